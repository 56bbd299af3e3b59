// The two logs that a row may run on. EventStoreDB is the test server as a process of its own, or the one that TEST_EVENTSTORE_URL names.
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { givenEventStoreDb } from '../support/eventStoreDb/given.ts';
import { startServerProcess } from '../support/eventStoreDb/serverProcess.ts';

export type LogName = 'postgres' | 'eventStoreDb';

export interface EventStoreDbUnderTest {
  readonly url: string;
  /** As the table names it. */
  readonly what: string;
  readonly store: EventStore;
  /** Of which it counts events: a given server may hold others. */
  readonly from: Position | null;
  stop(): Promise<void>;
}

export const startEventStoreDb = async (): Promise<EventStoreDbUnderTest> => {
  const given = givenEventStoreDb();
  const server = given ? { connectionString: given, stop: async () => undefined } : await startServerProcess();
  const store = await openEventStoreDb({ connectionString: server.connectionString });
  return {
    url: server.connectionString,
    what: given ? 'EventStoreDB' : 'EventStoreDB (test server, in memory)',
    store,
    from: await store.head(),
    stop: async () => {
      await store.close();
      await server.stop();
    },
  };
};

/** Events of payments of that type, since the start of the bench. */
export const countEvents = async ({ store, from }: EventStoreDbUnderTest, wanted: string): Promise<number> => {
  const over = new AbortController();
  let count = 0;
  for await (const batch of store.subscribe({ after: from, categories: ['payment'], signal: over.signal })) {
    if (batch.kind === 'events') count += batch.events.filter(({ type }) => type === wanted).length;
    if (batch.kind === 'caughtUp') over.abort();
  }
  return count;
};
