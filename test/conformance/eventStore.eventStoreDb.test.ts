// The suite on EventStoreDB: on the test server, and on a real one if TEST_EVENTSTORE_URL is set (support/eventStoreDb/given.ts).

import type { DeletesDeliveries } from '../../application/ports/deliveryRetention.ts';
import type { EventStore } from '../../application/ports/eventStore.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { givenEventStoreDb, throughPort } from '../support/eventStoreDb/given.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { startTcpProxy } from '../world/tcpProxy.ts';
import { appending } from './eventStore/appending.ts';
import { deleting } from './eventStore/deleting.ts';
import { faults } from './eventStore/faults.ts';
import { type EventStoreHarness, type LogUnderTest, useLog } from './eventStore/harness.ts';
import { reading } from './eventStore/reading.ts';
import { subscribing } from './eventStore/subscribing.ts';
import { eventStoreConformance } from './eventStore.ts';

/** Instances on one connection string. EventStoreDB has no appends in progress, so a held append begins at its release. */
const logAt = (
  connectionString: string,
  cut: () => void,
  end: () => Promise<void>,
  restore: LogUnderTest['restore'],
): LogUnderTest => {
  const stores: EventStore[] = [];
  const connect = async (): Promise<EventStore & DeletesDeliveries> => {
    const store = await openEventStoreDb({ connectionString });
    stores.push(store);
    return store;
  };
  return {
    connect,
    transaction: (work) =>
      work({
        query: async () => {
          throw new Error('the log is not kept in a database');
        },
      }),
    async cutConnections() {
      cut();
    },
    async holdAppend(stream, event) {
      const writer = await connect();
      return {
        async release() {
          await writer.append(stream, -1, [event]);
        },
      };
    },
    restore,
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      await end();
    },
  };
};

const testServer: EventStoreHarness = {
  async createLog() {
    const server = await EventStoreDbServer.start();
    return logAt(
      server.connectionString,
      () => server.cut(),
      () => server.stop(),
      (head) => server.restore(head),
    );
  },
};

eventStoreConformance('EventStoreDB, the test server', testServer);

const url = givenEventStoreDb();
if (url !== null) {
  describe(`event store conformance: EventStoreDB at ${new URL(url).host}`, () => {
    let log: LogUnderTest;
    let store: EventStore & DeletesDeliveries;

    useLog(
      async () => {
        const { hostname, port } = new URL(url);
        const proxy = await startTcpProxy({ host: hostname, port: Number(port === '' ? 2113 : port) });
        return logAt(
          throughPort(url, proxy.port),
          () => proxy.heal(),
          () => proxy.close(),
          () => Promise.reject(new Error('nobody restores a real server here')),
        );
      },
      (opened, instance) => {
        log = opened;
        store = instance;
      },
    );

    // Omits the parts about untouched and restored logs, because a server has one log, which grows with every run.
    appending(() => store);
    reading(
      () => log,
      () => store,
    );
    subscribing(
      () => log,
      () => store,
    );
    deleting(
      () => log,
      () => store,
    );
    faults(
      () => log,
      () => store,
    );
  });
}
