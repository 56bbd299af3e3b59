// Whether the log is the one in use: events in a stream of the adapter's own, the last of which counts. Its category is that of the
// log's identity, which no stream of the domain can have.
import { randomUUID } from 'node:crypto';
import { EventStoreUnavailable, type RecordedEvent } from '../../../application/ports/eventStore.ts';
import { IN_USE, type LogState } from '../logState.ts';
import type { Appender } from './appender.ts';
import type { Reader } from './reader.ts';

export const OWN_CATEGORY = 'quita_store';
export const STATE_STREAM = `${OWN_CATEGORY}-use`;
const PAGE_EVENTS = 100;

/** What the stream says up to a revision; -1: it was never written, which is the case of most logs. */
export interface KnownState {
  readonly state: LogState;
  readonly revision: number;
}
const NEVER_WRITTEN: KnownState = { state: IN_USE, revision: -1 };

export const stateOf = ({ data, revision }: RecordedEvent): KnownState => ({
  state: JSON.parse(data) as LogState,
  revision,
});

/** Throws EventStoreUnavailable. */
export const readState = async (reader: Reader): Promise<KnownState> => {
  for (let known = NEVER_WRITTEN; ; ) {
    const page = await reader.pageSoon(STATE_STREAM, known.revision + 1, PAGE_EVENTS);
    const last = page.at(-1);
    if (last !== undefined) known = stateOf(last);
    if (page.length < PAGE_EVENTS) return known;
  }
};

/** Throws EventStoreUnavailable, AppendOutcomeUnknown; EventStoreUnavailable also when somebody else changed it meanwhile. */
export const writeState = async (reader: Reader, appender: Appender, use: LogState): Promise<void> => {
  const { revision: expected } = await readState(reader);
  const data = JSON.stringify(use);
  const event = { id: randomUUID(), type: 'LogUseChanged', data, metadata: '{}' };
  const sizes = { dataBytes: Buffer.byteLength(data), metadataBytes: 2 };
  const { ok } = await appender.append({ stream: STATE_STREAM, expected, events: [event], ...sizes });
  if (!ok) throw new EventStoreUnavailable('the use of the log was changed by somebody else');
};
