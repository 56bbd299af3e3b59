// Data that the adapter keeps in the log itself, in streams of a category that the domain can't use:
// - the log's identity, written once by the first process, so that a checkpoint of another log is detected;
// - the log's state (in use, sealed, moved, a copy): the last event counts;
// - the day before which deliveries were deleted (deletion.ts): the last event counts.
import { randomUUID } from 'node:crypto';
import {
  AppendOutcomeUnknown,
  EMPTY_STREAM,
  EventStoreUnavailable,
  type RecordedEvent,
} from '../../../application/ports/eventStore.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import { IN_USE, type LogState } from '../logState.ts';
import type { Appender } from './appender.ts';
import type { Reader } from './reader.ts';

export const OWN_CATEGORY = 'quita_store';
export const IDENTITY_STREAM = `${OWN_CATEGORY}-identity`;
export const STATE_STREAM = `${OWN_CATEGORY}-state`;
const PAGE_EVENTS = 100;
const TRIES = 3;

/** Returns the append of one event to an own stream. */
export const ownAppend = (stream: string, expected: number, type: string, content: object): CheckedAppend => {
  const data = JSON.stringify(content);
  const metadata = '{}';
  return {
    stream,
    expected,
    events: [{ id: randomUUID(), type, data, metadata }],
    dataBytes: Buffer.byteLength(data),
    metadataBytes: metadata.length,
  };
};

/** Throws EventStoreUnavailable. */
export const identityOf = async (reader: Reader, appender: Appender): Promise<string> => {
  const append = ownAppend(IDENTITY_STREAM, EMPTY_STREAM, 'StoreIdentified', { storeId: randomUUID() });
  for (let n = 0; n < TRIES; n++) {
    const [first] = await reader.pageSoon(IDENTITY_STREAM, 0, 1);
    if (first !== undefined) return (JSON.parse(first.data) as { storeId: string }).storeId;
    try {
      await appender.append(append);
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown)) throw error;
    }
  }
  throw new EventStoreUnavailable('the identity of the log could not be written');
};

/** The state up to a revision of the stream; -1 if it was never written, as in most logs. */
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

/** Throws AppendOutcomeUnknown, or EventStoreUnavailable, also if another program changed the state in the meantime. */
export const writeState = async (reader: Reader, appender: Appender, state: LogState): Promise<void> => {
  const { revision: expected } = await readState(reader);
  const { ok } = await appender.append(ownAppend(STATE_STREAM, expected, 'LogStateChanged', state));
  if (!ok) throw new EventStoreUnavailable('another program changed the state of the log');
};
