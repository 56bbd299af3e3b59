// A log is sealed while the program runs. The program answers reads, rejects writes, and continues when the seal is removed.
import { expect } from 'chai';
import { openMigratableEventStoreDbLog } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import type { MigratableLog } from '../../infrastructure/eventStore/logState.ts';
import { IN_USE } from '../../infrastructure/eventStore/logState.ts';
import { openMigratablePostgresLog } from '../../infrastructure/eventStore/postgres/migratableLog.ts';
import { unreadiness } from '../../infrastructure/monitoring/readiness.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { TestGateway, untilServed } from '../world/gateway.ts';
import { migratedDatabase } from '../world/postgres.ts';

const nobody = (): void => undefined;
const SEALED = { kind: 'sealed', other: { storeId: 'other', address: 'esdb://elsewhere:2113' } } as const;

const held = async (test: TestGateway, log: MigratableLog): Promise<void> => {
  const known = await test.charge<{ id: string }>();
  expect(known.status).to.equal(201);
  const readiness = () => unreadiness(test.storage, test.gateway);
  expect(await readiness()).to.equal(null);
  await log.setState(SEALED);
  // A program on EventStoreDB learns this within milliseconds. What it accepts until then is copied too.
  const until = async (status: number) => {
    for (let n = 0; ; n++) {
      const reply = await test.charge({ amount: 500 + n }, { idempotencyKey: `while-sealed-${n}` });
      if (reply.status === status) return { reply, n };
      expect(reply.status).to.be.oneOf([201, 503]);
    }
  };
  const { reply, n } = await until(503);
  expect((reply.body as { error: { code: string } }).error.code).to.equal('service_unavailable');
  const head = await log.store.head();
  const again = await test.charge({ amount: 500 + n }, { idempotencyKey: `while-sealed-${n}` });
  expect(again.status).to.equal(503);
  for (const _ of ['once', 'twice'])
    expect(await readiness()).to.equal('the event log rejects events: it was sealed or moved');
  expect(await log.store.head()).to.equal(head);
  expect((await test.get(`/v1/charges/${known.body.id}`)).status).to.equal(200);
  await log.setState(IN_USE);
  const same = async () => await test.charge({ amount: 500 + n }, { idempotencyKey: `while-sealed-${n}` });
  const taken = await untilServed(same);
  expect(taken.status).to.equal(201);
  expect(await readiness()).to.equal(null);
  expect(taken.headers.get('idempotent-replayed')).to.equal(null);
  expect((await same()).headers.get('idempotent-replayed')).to.equal('true');
};

describe('a log that is sealed under a running program', () => {
  it('in Postgres rejects writes with 503, stores nothing, and accepts the same request afterwards', async () => {
    const database = await migratedDatabase();
    const test = await TestGateway.open({ database });
    const log = await openMigratablePostgresLog(database.connectionString, nobody);
    await held(test, log);
    await log.close();
    await test.close();
    await database.drop();
  });

  it('in EventStoreDB rejects writes with 503, stores nothing, and accepts the same request afterwards', async () => {
    const server = await EventStoreDbServer.start();
    const test = await TestGateway.open({ eventStoreUrl: server.connectionString });
    const log = await openMigratableEventStoreDbLog(server.connectionString, nobody);
    await held(test, log);
    await log.close();
    await test.close();
    await server.stop();
  });
});
