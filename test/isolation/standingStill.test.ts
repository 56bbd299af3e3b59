// A read model that stops, seen from outside: only its reads return 503, and every role names it.
import { expect } from 'chai';
import { createMetrics } from '../../infrastructure/monitoring/metrics.ts';
import { unreadiness } from '../../infrastructure/monitoring/readiness.ts';
import { runWords } from '../support/cli.ts';
import { TestGateway } from '../world/gateway.ts';
import { expectError, openReady } from '../world/http.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';

describe('a read model that has stopped', function suite() {
  let database: TestDatabase;
  let gateway: TestGateway;
  /** The API of another process, which runs no consumers. */
  let api: TestGateway;

  before(async () => {
    database = await migratedDatabase();
    gateway = await openReady({ database, isPatient: false });
    api = await TestGateway.open({
      database,
      isAlone: false,
      isPatient: false,
      roles: { serves: true, projects: false, works: false },
    });
    expect((await api.get('/v1/wallets/balance')).status).to.equal(200);
  });
  after(async () => {
    await api.close();
    await gateway.close();
    await database.drop();
  });

  it('returns 503 for its own reads only, is named by all roles, and is complete after recovery', async () => {
    const { operations } = gateway.storage;
    const before = (await api.charge<{ id: string }>()).body;
    for (const { gateway: one } of [api, gateway]) expect(await one.projected.caughtUp(30_000)).to.equal(true);
    expect((await api.get(`/v1/charges/${before.id}`)).status).to.equal(200);
    await operations.query('ALTER TABLE rm_payments.day_counts RENAME TO lost');
    const { status, body, text } = await api.charge<{ id: string }>();
    expect(status, text).to.equal(201);
    const raw = body.id.slice(3);
    for (const process of [api, gateway]) {
      process.gateway.projected.sawHead((await gateway.storage.store.head()) as never);
      const started = performance.now();
      const replies = await Promise.all(
        [
          `/v1/charges/${body.id}`,
          `/v1/payments/${raw}`,
          '/v1/charges',
          '/v1/payments',
          '/v1/payments/stats',
          `/v1/payments/${raw}/refunds`,
        ].map((path) => process.get(path, { key: api.tenant.testKey })),
      );
      for (const reply of replies) {
        expectError(reply, 503, 'service_unavailable');
        expect(reply.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
      }
      expect(performance.now() - started).to.be.within(990, 5_900); // The requests waited concurrently.
      expect((await process.get(`/pay/${raw}/status`, { key: null })).status).to.equal(503);
      expect((await process.get('/v1/wallets/balance', { key: api.tenant.testKey })).status).to.equal(200);
      expect((await process.get('/v1/webhooks/deliveries', { key: api.tenant.testKey })).status).to.equal(200);
      expect(process.gateway.projected.standingStill(900)).to.deep.equal(['payments']);
    }
    const reasons = await Promise.all(
      [api, gateway].map(({ storage, gateway: one }) => unreadiness(storage, one, 900)),
    );
    expect(reasons).to.deep.equal(['behind the log: payments', 'payments has stopped']);
    for (const { gateway: told } of [api, gateway]) {
      const metrics = await createMetrics(told).registry.metrics();
      expect(metrics).to.match(/^quita_subscription_stuck_seconds\{group="projector",consumer="payments"\} [1-9]/m);
      expect(metrics).to.contain('quita_subscription_stuck_seconds{group="projector",consumer="wallet"} 0\n');
      expect(metrics).to.contain('quita_parked_streams{consumer="payments"} 0');
    }
    const doctor = await runWords(database.connectionString, 'doctor');
    expect(doctor.out).to.contain('behind the log: payments;');
    await operations.query('ALTER TABLE rm_payments.lost RENAME TO day_counts');
    for (const { gateway: one } of [api, gateway]) expect(await one.projected.caughtUp(30_000)).to.equal(true);
    for (const id of [before.id, body.id]) expect((await api.get(`/v1/charges/${id}`)).status).to.equal(200);
    expect(await unreadiness(api.storage, api.gateway)).to.equal(null);
    expect((await runWords(database.connectionString, 'projections', 'verify')).code).to.equal(0);
    for (const fault of [...api.faults, ...gateway.faults]) expect(fault).to.have.property('name', 'ReadModelsBehind');
  });
});
