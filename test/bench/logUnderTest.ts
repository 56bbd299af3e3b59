// The two logs that a row can use. EventStoreDB is the test server in its own process, or the server in TEST_EVENTSTORE_URL.
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { givenEventStoreDb } from '../support/eventStoreDb/given.ts';
import { startServerProcess } from '../support/eventStoreDb/serverProcess.ts';

export type LogName = 'postgres' | 'eventStoreDb';

export interface EventStoreDbUnderTest {
  readonly url: string;
  /** Name of the log in the table. */
  readonly what: string;
  readonly store: EventStore;
  /** Position after which events count, because an existing server may contain others. */
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

/** Returns the number of payments’ events of that type since the bench started. */
export const countEvents = async ({ store, from }: EventStoreDbUnderTest, wanted: string): Promise<number> => {
  const over = new AbortController();
  let count = 0;
  for await (const batch of store.subscribe({ after: from, categories: ['payment'], signal: over.signal })) {
    if (batch.kind === 'events') count += batch.events.filter(({ type }) => type === wanted).length;
    if (batch.kind === 'caughtUp') over.abort();
  }
  return count;
};
