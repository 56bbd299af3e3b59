// The log in EventStoreDB as source or target of a copy.

import type { RecordedEvent } from '../../../application/ports/eventStore.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/aggregate.ts';
import type { CheckedAppend } from '../checkAppend.ts';
import type { LogName } from '../logState.ts';
import { type MigratableLog, runsOf } from '../logState.ts';
import { Appender } from './appender.ts';
import { Connector } from './connection.ts';
import { Deletion } from './deletion.ts';
import { withOriginalTimestamp } from './originalTimestamp.ts';
import { readState, writeState } from './ownStreams.ts';
import { Reader } from './reader.ts';
import { readConnectionString, TIMINGS } from './settings.ts';
import { openEventStoreDb } from './store.ts';

const DELETED_AT_ONCE = 64;

const inOneStream = (before: RecordedEvent, event: RecordedEvent): boolean =>
  before.stream === event.stream && before.revision + 1 === event.revision;

/** Returns an append of the events, with their original times in their metadata. */
const asAppend = (run: readonly RecordedEvent[]): CheckedAppend => {
  const { stream, revision } = run[0] as RecordedEvent;
  if (!CATEGORIES.some((category) => category === readStreamName(stream).category))
    throw new Error(`this version does not know the category of ${stream}: use the version that wrote it`);
  const events = run.map(({ id, type, data, metadata, recordedAt }) => ({
    id,
    type,
    data,
    metadata: withOriginalTimestamp(metadata, recordedAt),
  }));
  const bytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return {
    stream,
    expected: revision - 1,
    events,
    dataBytes: bytes(events.map(({ data }) => data)),
    metadataBytes: bytes(events.map(({ metadata }) => metadata)),
  };
};

const addressOf = (connectionString: string): string => connectionString.replace(/\/\/[^/?]*@/, '//');

/** Throws BadConnectionString, EventStoreUnavailable. */
export const openMigratableEventStoreDbLog = async (
  connectionString: string,
  onError: (error: Error) => void,
): Promise<MigratableLog> => {
  const store = await openEventStoreDb({ connectionString, inAnyState: true, onError });
  const connector = new Connector(readConnectionString(connectionString));
  const reader = new Reader({ connector, timings: TIMINGS, onError });
  const appender = new Appender({ connector, reader, timings: TIMINGS, onError, check: async () => undefined });
  const deletion = new Deletion({ connector, reader, appender, timings: TIMINGS });
  const name: LogName = { storeId: store.storeId, address: addressOf(connectionString) };
  return {
    name,
    store,
    state: async () => (await readState(reader)).state,
    setState: (use) => writeState(reader, appender, use),
    async write(events, onWritten) {
      await appender.appendInOrder(runsOf(events, inOneStream).map(asAppend), onWritten);
    },
    async deleteDeliveries(ended, recordedBefore) {
      for (let at = 0; at < ended.length; at += DELETED_AT_ONCE)
        await deletion.delete(ended.slice(at, at + DELETED_AT_ONCE), recordedBefore);
    },
    async close() {
      deletion.close();
      await store.close();
      await appender.close();
      reader.close();
    },
  };
};
