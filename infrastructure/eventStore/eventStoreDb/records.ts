// What the server answers, as events of the port.
import type { Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/event.ts';
import { StoreFailure } from './failures.ts';
import { readOriginalTimestamp } from './originalTimestamp.ts';
import { positionOf } from './position.ts';
import { type ReadResponse, uuidText } from './protocol.ts';

const TICKS_PER_MS = 10_000n;

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** `created` counts 100 ns since 1970. */
const timeOf = (ticks: string | undefined): string =>
  new Date(Number(BigInt(ticks ?? '0') / TICKS_PER_MS)).toISOString();

/** null: no event in it, or one that the server wrote by itself (a tombstone). */
export const eventOf = (response: ReadResponse): RecordedEvent | null => {
  const record = response.getEvent()?.getEvent();
  if (record === undefined) return null;
  const properties = record.getMetadataMap();
  const type = properties.get('type') ?? '';
  if (type.startsWith('$')) return null;
  const position = positionOf(record.getCommitPosition(), record.getPreparePosition());
  if (position === null) {
    throw new StoreFailure(
      'refused',
      'this server gives no positions in stream reads: EventStoreDB 22.10 or newer is needed',
    );
  }
  const { metadata, recordedAt } = readOriginalTimestamp(textOf(record.getCustomMetadata_asU8()));
  return {
    id: uuidText(record.getId()),
    type,
    data: textOf(record.getData_asU8()),
    metadata,
    stream: textOf(record.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array()) as StreamName,
    revision: Number(record.getStreamRevision()),
    position,
    recordedAt: recordedAt ?? timeOf(properties.get('created')),
  };
};

export const checkpointOf = (response: ReadResponse): Position | null => {
  const checkpoint = response.getCheckpoint();
  return checkpoint === undefined ? null : positionOf(checkpoint.getCommitPosition(), checkpoint.getPreparePosition());
};
