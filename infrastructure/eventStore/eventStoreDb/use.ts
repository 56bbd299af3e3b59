// Whether the log is the one in use: events in a stream of the adapter's own, the last of which counts. Its category is that of the
// log's identity, which no stream of the domain can have.
import { randomUUID } from 'node:crypto';
import { EventStoreUnavailable, type RecordedEvent } from '../../../application/ports/eventStore.ts';
import { IN_USE, type LogUse } from '../logUse.ts';
import type { Appender } from './appender.ts';
import type { Reader } from './reader.ts';

export const USE_CATEGORY = 'quita_store';
export const USE_STREAM = `${USE_CATEGORY}-use`;
const PAGE_EVENTS = 100;

/** What the stream says up to a revision; -1: it was never written, which is the case of most logs. */
export interface KnownUse {
  readonly use: LogUse;
  readonly revision: number;
}
const NEVER_SAID: KnownUse = { use: IN_USE, revision: -1 };

export const useOf = ({ data, revision }: RecordedEvent): KnownUse => ({ use: JSON.parse(data) as LogUse, revision });

/** Throws EventStoreUnavailable. */
export const readUse = async (reader: Reader): Promise<KnownUse> => {
  for (let known = NEVER_SAID; ; ) {
    const page = await reader.pageSoon(USE_STREAM, known.revision + 1, PAGE_EVENTS);
    const last = page.at(-1);
    if (last !== undefined) known = useOf(last);
    if (page.length < PAGE_EVENTS) return known;
  }
};

/** Throws EventStoreUnavailable, AppendOutcomeUnknown; EventStoreUnavailable also when somebody else changed it meanwhile. */
export const writeUse = async (reader: Reader, appender: Appender, use: LogUse): Promise<void> => {
  const { revision: expected } = await readUse(reader);
  const data = JSON.stringify(use);
  const event = { id: randomUUID(), type: 'LogUseChanged', data, metadata: '{}' };
  const sizes = { dataBytes: Buffer.byteLength(data), metadataBytes: 2 };
  const { ok } = await appender.append({ stream: USE_STREAM, expected, events: [event], ...sizes });
  if (!ok) throw new EventStoreUnavailable('the use of the log was changed by somebody else');
};
