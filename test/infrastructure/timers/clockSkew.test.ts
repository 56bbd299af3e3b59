// Workers on hosts with different clocks: timers use the database's clock, and a host with a wrong clock does not work.
import { expect } from 'chai';
import { unreadiness } from '../../../infrastructure/monitoring/readiness.ts';
import { DatabaseClock } from '../../../infrastructure/postgres/databaseClock.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { TimerScan } from '../../../infrastructure/timers/timerScan.ts';
import { setTimers } from '../../../infrastructure/timers/timerTable.ts';
import { RecordingJobs, timer, timerKinds } from '../../support/operations.ts';
import { TestGateway } from '../../world/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { Receiver, typeOf } from '../../world/receiver.ts';

/** The precision to which a clock in these tests matches the database's. */
const EXACT_MS = 40;
/** The clock of the database in all of these tests is this host's. */
const databaseNow = Date.now;
const skewed = async (db: PgPool, skewMs: number): Promise<DatabaseClock> => {
  const clock = await DatabaseClock.open({
    db,
    wallNow: () => Date.now() + skewMs,
    steadyNow: () => performance.now(),
    onFault: () => undefined,
    onError: () => undefined,
  });
  // Its precision depends on the speed of the database's answer, which may be slow on a busy machine.
  let beganAtMs: number;
  do {
    beganAtMs = performance.now();
    await clock.measure();
  } while (performance.now() - beganAtMs > EXACT_MS);
  return clock;
};

describe('workers whose clocks are 12 s apart', () => {
  let database: TestDatabase;
  let pool: PgPool;
  const scans: TimerScan[] = [];
  const clocks: DatabaseClock[] = [];
  beforeEach(async () => {
    database = await migratedDatabase();
    pool = new PgPool(connectionConfig(database.connectionString, 'test'), 4, () => undefined);
  });
  afterEach(async () => {
    await Promise.all(scans.splice(0).map((scan) => scan.stop()));
    await Promise.all(clocks.splice(0).map((clock) => clock.close()));
    await pool.close();
    await database.drop();
  });

  for (const skewMs of [6_000, -6_000])
    it(`take timers when they are due by the database’s clock: ${skewMs / 1_000} s`, async () => {
      const clock = await skewed(pool, skewMs);
      clocks.push(clock);
      const jobs = new RecordingJobs();
      const takenAtMs: number[] = [];
      const enqueue = jobs.enqueue.bind(jobs);
      jobs.enqueue = (requests) => {
        takenAtMs.push(databaseNow());
        return enqueue(requests);
      };
      const scan = new TimerScan(pool, jobs, timerKinds, clock, () => undefined);
      scans.push(scan);
      const dueAtMs = databaseNow() + 700;
      await setTimers(pool, [timer('a', new Date(dueAtMs).toISOString())]);
      scan.start();
      await jobs.count(1);
      expect(takenAtMs[0]).to.be.within(dueAtMs - 500, dueAtMs + 5_000); // by its own clock, 6 s early or late
      expect(jobs.enqueued.map(({ payload }) => payload)).to.deep.equal([{ paymentId: 'a' }]);
    });

  it('take no timers while they must not work, and then all that are due', async () => {
    let mayWork = false;
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const jobs = new RecordingJobs();
    const scan = new TimerScan(
      pool,
      jobs,
      timerKinds,
      { now: databaseNow },
      () => undefined,
      () => {
        asked();
        return mayWork;
      },
    );
    scans.push(scan);
    await setTimers(pool, [timer('a', new Date(databaseNow() - 1_000).toISOString())]);
    scan.start();
    await isAsked;
    await pool.query('SELECT 1');
    expect(jobs.enqueued).to.deep.equal([]);
    mayWork = true;
    await jobs.count(1);
    expect(jobs.enqueued.map(({ payload }) => payload)).to.deep.equal([{ paymentId: 'a' }]);
  });

  it('report it, use the right time in responses, and leave work until their clock is right', async () => {
    const clock = await skewed(pool, 3_600_000);
    clocks.push(clock);
    const fault = clock.fault();
    expect(fault).to.match(/3(600\.0|599\.\d) s ahead of the database's/);
    const receiver = await Receiver.open();
    let current = fault;
    const gateway = await TestGateway.open({ clock, clockFault: () => current });
    const events = ['charge.created'];
    expect((await gateway.post('/v1/webhooks/endpoints', { url: receiver.url, events })).status).to.equal(201);
    const beganAtMs = databaseNow();
    const { status, body } = await gateway.charge();
    expect(status).to.equal(201);
    expect(Date.parse(String(body['created_at']))).to.be.within(beganAtMs - 50, databaseNow() + 50);
    expect(await unreadiness(gateway.storage, gateway.gateway)).to.equal(fault);
    while ((await gateway.gateway.jobs.open('fanOut')) === 0) await pool.query('SELECT 1');
    expect(receiver.got).to.deep.equal([]);
    current = null;
    await receiver.until((hit) => typeOf(hit) === 'charge.created');
    expect(await unreadiness(gateway.storage, gateway.gateway)).to.equal(null);
    await gateway.close();
    await receiver.close();
  });
});
