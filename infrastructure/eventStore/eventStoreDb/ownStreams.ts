// What the adapter keeps in the log itself, in streams of a category that no stream of the domain can have:
// - the log's identity, written once by whoever comes first; it lives and dies with the log, so that a checkpoint of another log is
//   recognised;
// - the log's state (in use, sealed, moved, a copy): the last event counts;
// - the day before which deliveries were deleted (deletion.ts): the last event counts.
import { randomUUID } from 'node:crypto';
import {
  AppendOutcomeUnknown,
  EMPTY_STREAM,
  EventStoreUnavailable,
  type RecordedEvent,
} from '../../../application/ports/eventStore.ts';
import { IN_USE, type LogState } from '../logState.ts';
import type { Appender } from './appender.ts';
import type { Reader } from './reader.ts';

export const IDENTITY_STREAM = 'quita_store-identity';
const TRIES = 3;

/** Throws EventStoreUnavailable. */
export const identityOf = async (reader: Reader, appender: Appender): Promise<string> => {
  const data = JSON.stringify({ storeId: randomUUID() });
  const event = { id: randomUUID(), type: 'StoreIdentified', data, metadata: '{}' };
  const sizes = { dataBytes: Buffer.byteLength(data), metadataBytes: 2 };
  for (let n = 0; n < TRIES; n++) {
    const [first] = await reader.pageSoon(IDENTITY_STREAM, 0, 1);
    if (first !== undefined) return (JSON.parse(first.data) as { storeId: string }).storeId;
    try {
      await appender.append({ stream: IDENTITY_STREAM, expected: EMPTY_STREAM, events: [event], ...sizes });
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
  throw new EventStoreUnavailable('the identity of the log could not be written');
};

export const OWN_CATEGORY = 'quita_store';
export const STATE_STREAM = `${OWN_CATEGORY}-state`;
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
export const writeState = async (reader: Reader, appender: Appender, state: LogState): Promise<void> => {
  const { revision: expected } = await readState(reader);
  const data = JSON.stringify(state);
  const event = { id: randomUUID(), type: 'LogStateChanged', data, metadata: '{}' };
  const sizes = { dataBytes: Buffer.byteLength(data), metadataBytes: 2 };
  const { ok } = await appender.append({ stream: STATE_STREAM, expected, events: [event], ...sizes });
  if (!ok) throw new EventStoreUnavailable('another program changed the state of the log');
};
