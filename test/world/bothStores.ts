// A suite that must hold wherever the log is: on PostgreSQL, and on the EventStoreDB test server.
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';

/** Runs the suite once on each event store. `log`, asked from its first hook on, returns what the suite opens its gateways with. */
export const onBothStores = (name: string, suite: (log: () => { readonly eventStoreUrl?: string }) => void): void => {
  for (const store of ['PostgreSQL', 'EventStoreDB'])
    describe(`${name}, with the log in ${store}`, () => {
      let server: EventStoreDbServer | null = null;
      before(async () => {
        if (store === 'EventStoreDB') server = await EventStoreDbServer.start();
      });
      suite(() => (server === null ? {} : { eventStoreUrl: server.connectionString }));
      // Behind the hooks of the suite, which close its gateways.
      after(() => server?.stop());
    });
};
