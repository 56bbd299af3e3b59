// `requests show` on both event stores.
import { expect } from 'chai';
import { runWordsIn } from '../../support/cli.ts';
import { EventStoreDbServer } from '../../support/eventStoreDb/server.ts';
import { TestGateway } from '../../world/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';

interface Shown {
  readonly requests: readonly Record<string, unknown>[];
  readonly events: readonly {
    readonly type: string;
    readonly stream: string;
    readonly recordedAt: string;
    readonly metadata: Record<string, unknown>;
  }[];
}

for (const store of ['PostgreSQL', 'EventStoreDB'])
  describe(`requests show, with the log in ${store}`, () => {
    let database: TestDatabase;
    let server: EventStoreDbServer | null = null;
    let gateway: TestGateway;
    before(async () => {
      database = await migratedDatabase();
      if (store === 'EventStoreDB') server = await EventStoreDbServer.start();
      gateway = await TestGateway.open({ database, ...(server && { eventStoreUrl: server.connectionString }) });
    });
    after(async () => {
      await gateway.close();
      await server?.stop();
      await database.drop();
    });
    const show = (id: string) =>
      runWordsIn<Shown>(
        { DATABASE_URL: database.connectionString, ...(server && { EVENTSTORE_URL: server.connectionString }) },
        'requests',
        'show',
        id,
        '--json',
      );

    it('shows the request and only its own events', async () => {
      const charge = (id: string) => gateway.charge<{ id: string }>({}, { headers: { 'x-request-id': id } });
      await charge('req_before');
      const { body } = await charge('req_this');
      await charge('req_after');
      await gateway.writeRequests();
      const { code, json } = await show('req_this');
      expect([code, json.requests.length]).to.deep.equal([0, 1]);
      expect(json.requests[0]).to.include({
        requestId: 'req_this',
        accountId: `acct_${gateway.tenant.accountId}`,
        mode: 'test',
        method: 'POST',
        path: '/v1/charges',
        status: 201,
      });
      expect(json.events.length).to.be.at.least(1);
      for (const { stream, metadata } of json.events) {
        expect(stream).to.equal(`payment-${body.id.slice(3)}`);
        expect(metadata['$causationId']).to.equal('req_this');
      }
    });
    it('shows all requests with the same ID, and their events once each, in the order they were recorded', async () => {
      const charges: string[] = [];
      for (let i = 0; i < 3; i++) {
        const { body } = await gateway.charge<{ id: string }>({}, { headers: { 'x-request-id': 'req_shared' } });
        charges.push(`payment-${body.id.slice(3)}`);
      }
      await gateway.writeRequests();
      const { json } = await show('req_shared');
      expect(json.requests.length).to.equal(3);
      const created = json.events.filter(({ type }) => type === 'ChargeCreated');
      expect(created.map(({ stream }) => stream)).to.deep.equal(charges);
      const times = json.events.map(({ recordedAt }) => recordedAt);
      expect(times).to.deep.equal(times.toSorted());
    });
    it('shows no events for reads, every request with a repeated ID, and nothing for an unknown ID', async () => {
      for (let i = 0; i < 2; i++) await gateway.get('/v1/wallets', { headers: { 'x-request-id': 'req_twice' } });
      await gateway.writeRequests();
      const twice = await show('req_twice');
      expect([twice.code, twice.json.requests.length, twice.json.events]).to.deep.equal([0, 2, []]);
      const none = await show('req_none');
      expect([none.code, none.json]).to.deep.equal([1, { requests: [], events: [] }]);
    });
  });
