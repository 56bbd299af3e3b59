// Runs a suite on both event stores: PostgreSQL and the EventStoreDB test server.
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';

/** Runs the suite once on each event store. `log` returns the options for its gateways; call it from hooks and tests only. */
export const onBothStores = (name: string, suite: (log: () => { readonly eventStoreUrl?: string }) => void): void => {
  for (const store of ['PostgreSQL', 'EventStoreDB'])
    describe(`${name}, with the log in ${store}`, () => {
      let server: EventStoreDbServer | null = null;
      before(async () => {
        if (store === 'EventStoreDB') server = await EventStoreDbServer.start();
      });
      suite(() => (server === null ? {} : { eventStoreUrl: server.connectionString }));
      // Runs after the hooks of the suite, which close its gateways.
      after(() => server?.stop());
    });
};
