// The JobQueue port on pg-boss: enqueues in a transaction, wakes workers fast, is fair between groups, loses no job (architecture §7).
import { expect } from 'chai';
import { type JobHandler, type JobPayload, type JobRequest, PayloadsFailed } from '../../../application/ports/jobs.ts';
import type { SqlPool } from '../../../application/ports/sql.ts';
import type { AccountId, Mode, Tenant } from '../../../domain/kernel/ids.ts';
import { PgBossJobs } from '../../../infrastructure/jobs/pgBossJobs.ts';
import { NotificationListener } from '../../../infrastructure/postgres/notificationListener.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { Gate } from '../../projections/engine/scene.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { type Backends, watchBackends } from '../postgres/backends.ts';
import { idOf, kindOf, QUEUES_UNDER_TEST } from './queueUnderTest.ts';
import { Worked } from './worked.ts';

const LIMITS = { places: 24, perTarget: 8 };
const QUEUE = 'settle';
const tenant = (name: string, mode: Mode = 'live'): Tenant => ({ accountId: name as AccountId, mode });
const TENANT = tenant('acct');
const HERE = { queue: QUEUE, tenant: TENANT };

describe('the job queue on pg-boss', () => {
  let database: TestDatabase;
  let backends: Backends;
  let pool: PgPool;
  let opened: { jobs: PgBossJobs; notices: NotificationListener }[];
  let errors: string[];

  const open = async (often: { heartbeatMs?: number; hangsMs?: number; pool?: SqlPool } = {}): Promise<PgBossJobs> => {
    const notices = new NotificationListener(connectionConfig(database.connectionString, 'notices'));
    await notices.open();
    const jobs = await PgBossJobs.open({
      pool,
      notices,
      queues: QUEUES_UNDER_TEST,
      onError: (error, { queue }) => errors.push(`${queue}: ${error.message}`),
      ...often,
    });
    opened.push({ jobs, notices });
    return jobs;
  };
  /** Returns a process and the names of the statements that its queue completed. */
  const watched = async (): Promise<readonly [PgBossJobs, readonly string[]]> => {
    const statements: string[] = [];
    const noting: SqlPool = {
      query: async <Row>(...[statement, values]: Parameters<SqlPool['query']>) => {
        const result = await pool.query<Row>(statement, values);
        statements.push(typeof statement === 'string' ? statement : (statement.name ?? statement.text));
        return result;
      },
      transaction: (work) => pool.transaction(work),
    };
    return [await open({ pool: noting }), statements];
  };
  beforeEach(async () => {
    database = await migratedDatabase();
    backends = await watchBackends(database.connectionString);
    pool = new PgPool(connectionConfig(database.connectionString, 'jobs'), 4, () => undefined);
    opened = [];
    errors = [];
  });
  afterEach(async () => {
    for (const { jobs, notices } of opened) {
      await jobs.stop(1_000);
      await notices.close();
    }
    await pool.close();
    await backends.close();
    await database.drop();
  });
  const requests = (count: number, more: Partial<JobRequest> = {}): JobRequest[] =>
    Array.from({ length: count }, (_, n) => ({
      ...HERE,
      payload: { id: `${more.target ?? more.tenant?.accountId ?? 'item'}-${n}` },
      ...more,
    }));
  const rest = (jobs: PgBossJobs) => backends.until(async () => (await jobs.open(QUEUE)) === 0);

  it('puts as many payloads into a job as its kind allows', async () => {
    const jobs = await open();
    const worked = new Worked();
    jobs.work('expire', worked, LIMITS);
    await jobs.enqueue(requests(7, { queue: 'expire' }));
    await worked.count(7);
    expect(worked.runs.map(({ items }) => items.length).toSorted()).to.deep.equal([1, 3, 3]);
  });

  it('runs all payloads, in jobs of at most 20 with the same target, and is empty afterwards', async () => {
    const jobs = await open();
    const worked = new Worked();
    jobs.work(QUEUE, worked, LIMITS);
    const all = [...requests(45), ...requests(3, { target: 'a' }), ...requests(2, { target: 'b' })];
    await jobs.enqueue(all);
    await worked.count(50);
    await rest(jobs);
    expect(worked.items.toSorted()).to.deep.equal(all.map(idOf).toSorted());
    const shapes = worked.runs.map(({ items, target }) => `${target ?? '-'} ${items.length}`);
    expect(shapes.toSorted()).to.deep.equal(['- 20', '- 20', '- 5', 'a 3', 'b 2']);
    expect(errors).to.deep.equal([]);
  });

  it('removes duplicates within a call, but not between calls', async () => {
    const jobs = await open();
    const [request] = requests(1) as [JobRequest];
    await jobs.enqueue([request, request]);
    expect(await jobs.open(QUEUE)).to.equal(1);
    await jobs.enqueue([request]);
    expect(await jobs.open(QUEUE)).to.equal(2);
    const worked = new Worked();
    jobs.work(QUEUE, worked, LIMITS);
    await worked.count(2);
    expect(worked.items).to.deep.equal([idOf(request), idOf(request)]);
  });

  it('counts a tenant’s waiting and running payloads in several queues without those that wait for a retry, and lists the running ones', async () => {
    const jobs = await open();
    const [a, b] = [tenant('a'), tenant('b')];
    const underWay = (who: Tenant) => jobs.underWay([QUEUE, 'refund'], who);
    await jobs.enqueue([...requests(3, { tenant: a }), ...requests(2, { tenant: b }), ...requests(5)]);
    await jobs.enqueue([{ queue: 'refund', tenant: a, payload: { id: 'r' } }]);
    await jobs.enqueue([{ queue: 'expire', tenant: a, payload: { id: 'e' } }]);
    expect([await underWay(a), await underWay(b), await underWay(tenant('a', 'test'))]).to.deep.equal([4, 2, 0]);
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worked = new Worked(({ items }) => (items[0] === 'a-0' ? held : Promise.reject(new Error('no'))));
    jobs.work(QUEUE, worked, LIMITS);
    await worked.until(() => worked.runs.length === 3);
    expect(await underWay(a)).to.equal(4);
    const running = async (who: Tenant) => (await jobs.running(kindOf(QUEUE), who)).map(({ id }) => id);
    expect([await running(a), await running(tenant('a', 'test'))]).to.deep.equal([['a-0', 'a-1', 'a-2'], []]);
    await backends.until(async () => (await underWay(b)) === 0);
    finish();
    await backends.until(async () => (await underWay(a)) === 1);
  });

  it('stores nothing of a transaction that is rolled back, and frees its slots', async () => {
    const [jobs, statements] = await watched();
    const worked = new Worked();
    jobs.work(QUEUE, worked, { places: 1, perTarget: 1 });
    await backends.until(async () => statements.includes('jobs_claim'));
    for (const reason of ['no', 'never']) {
      const rolledBack = pool.transaction(async (tx) => {
        await jobs.enqueue(requests(3), tx);
        throw new Error(reason);
      });
      expect(await rolledBack.catch((error: Error) => error.message)).to.equal(reason);
      expect(await jobs.open(QUEUE)).to.equal(0);
    }
    const impossible = { ...HERE, payload: { id: 'a\u0000' } };
    expect(await jobs.enqueue([impossible]).catch((error: Error) => error.message)).to.match(/Unicode/);
    await jobs.enqueue([{ ...HERE, payload: { id: 'after' } }]);
    await worked.count(1);
    expect(worked.items).to.deep.equal(['after']);
  });

  it('shows nothing of a transaction before it commits', async () => {
    const jobs = await open();
    const worked = new Worked();
    jobs.work(QUEUE, worked, LIMITS);
    await pool.transaction(async (tx) => {
      await jobs.enqueue(requests(1), tx);
      jobs.wake([HERE]);
      expect(await jobs.open(QUEUE)).to.equal(0);
      expect(worked.items).to.deep.equal([]);
    });
    await worked.count(1);
  });

  it('runs new jobs without a claim while half of its slots are free, and notifies other processes only of the rest', async () => {
    const [jobs, statements] = await watched();
    const gate = new Gate();
    const worked = new Worked(() => gate.pass());
    jobs.work(QUEUE, worked, { places: 4, perTarget: 4 });
    const claims = () => statements.filter((name) => name.startsWith('jobs_claim')).length;
    await backends.until(async () => claims() === 2); // one for each of the lanes live and test
    const told: string[] = [];
    const notices = new NotificationListener(connectionConfig(database.connectionString, 'other'));
    await notices.open();
    await notices.on('quita_jobs', (payload) => told.push(payload.split(' ')[1] as string));
    await jobs.enqueue([{ ...HERE, payload: { id: 'a' } }]);
    await jobs.enqueue([{ ...HERE, tenant: tenant('b'), payload: { id: 'b' } }]);
    await worked.count(2);
    expect([claims(), await jobs.open(QUEUE)]).to.deep.equal([2, 2]);
    await jobs.enqueue([{ ...HERE, tenant: tenant('c'), payload: { id: 'c' } }]);
    await backends.until(async () => told.length > 0);
    await notices.close();
    await worked.count(3);
    expect([told, claims()]).to.deep.equal([['settle/live'], 3]);
    gate.open();
    await rest(jobs);
    expect(worked.items).to.deep.equal(['a', 'b', 'c']);
  });

  it('counts open payloads, waiting and running, of all tenants or of one', async () => {
    const jobs = await open();
    const gate = new Gate();
    await jobs.enqueue([...requests(30), ...requests(4, { tenant: tenant('a') })]);
    expect([
      await jobs.open(QUEUE),
      await jobs.open(QUEUE, tenant('a')),
      await jobs.open(QUEUE, tenant('a', 'test')),
      await jobs.open('deliver'),
    ]).to.deep.equal([34, 4, 0, 0]);
    const worked = new Worked(() => gate.pass());
    jobs.work(QUEUE, worked, { places: 1, perTarget: 1 });
    await worked.count(1);
    expect(await jobs.open(QUEUE)).to.equal(34);
    gate.open();
    await rest(jobs);
  });

  it('calls a listener when jobs end, successfully or not, until it is removed', async () => {
    const jobs = await open();
    let told = 0;
    let tell: () => void = () => undefined;
    const undo = jobs.onSettled(() => {
      told++;
      tell();
    });
    const next = () => new Promise<void>((resolve) => (tell = resolve));
    let isFirst = true;
    jobs.work(
      QUEUE,
      new Worked(() => {
        if (isFirst) throw new Error('first');
      }),
      LIMITS,
    );
    const failed = next();
    await jobs.enqueue(requests(1));
    await failed;
    isFirst = false;
    const done = next();
    await jobs.enqueue([{ ...HERE, payload: { id: 'second' } }]);
    await done;
    const before = told;
    undo();
    await rest(jobs);
    expect(told).to.equal(before);
  });

  for (const [whom, elsewhere] of [
    ['this process', false],
    ['another process on the same database', true],
  ] as const)
    it(`wakes workers of ${whom} within 50 ms (median)`, async () => {
      const [sender, receiver] = elsewhere
        ? [await open(), await open()]
        : await open().then((jobs) => [jobs, jobs] as const);
      const worked = new Worked();
      receiver.work(QUEUE, worked, LIMITS);
      const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[7] as number;
      const [tookMs, roundTripMs]: [number[], number[]] = [[], []];
      for (let n = 0; n < 15; n++) {
        const started = performance.now();
        await sender.enqueue([{ ...HERE, payload: { id: `${n}` } }]);
        await worked.count(n + 1);
        tookMs.push(performance.now() - started);
        roundTripMs.push(await backends.roundTripMs());
      }
      // The limit scales with the speed of the machine.
      expect(median(tookMs)).to.be.lessThan(50 + 10 * median(roundTripMs));
    });

  it('retries a failed job, and reports why it failed', async () => {
    const jobs = await open();
    let failures = 0;
    const worked = new Worked(() => {
      if (failures++ < 1) throw new Error('the weather');
    });
    jobs.work(QUEUE, worked, LIMITS);
    await jobs.enqueue(requests(2));
    await worked.count(4);
    await rest(jobs);
    expect(worked.runs.map(({ items }) => items)).to.deep.equal([
      ['item-0', 'item-1'],
      ['item-0', 'item-1'],
    ]);
    expect(errors).to.deep.equal([`${QUEUE}: the weather`]);
  });

  it('lets a slow target delay no other target, and keeps to the limit per target', async () => {
    const jobs = await open();
    const gate = new Gate();
    const running = new Map<string | null, number>();
    const peak = new Map<string | null, number>();
    const worked = new Worked(async ({ target }) => {
      const now = (running.get(target) ?? 0) + 1;
      running.set(target, now);
      peak.set(target, Math.max(peak.get(target) ?? 0, now));
      if (target === 'slow') await gate.pass();
      running.set(target, (running.get(target) ?? 0) - 1);
    });
    // Ten jobs of the slow target come first in the queue: without the limit, one claim would take them all.
    for (let n = 0; n < 10; n++) await jobs.enqueue([{ ...HERE, payload: { id: `slow-${n}` }, target: 'slow' }]);
    jobs.work(QUEUE, worked, { places: 24, perTarget: 2 });
    await worked.count(2);
    await jobs.enqueue([...requests(5, { target: 'a' }), ...requests(5, { target: 'b' })]);
    await worked.until(() => worked.items.filter((item) => !item.startsWith('slow')).length === 10);
    expect(worked.items.filter((item) => item.startsWith('slow'))).to.have.length(2);
    gate.open();
    await rest(jobs);
    expect(peak.get('slow')).to.equal(2);
    expect(worked.items.filter((item) => item.startsWith('slow')).toSorted()).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `slow-${n}`),
    );
    expect(errors).to.deep.equal([]);
  });

  it('finishes running jobs when it stops, and leaves waiting jobs to others', async () => {
    const [stopping, other] = [await open(), await open()];
    const gate = new Gate();
    const worked = new Worked(() => gate.pass());
    stopping.work(QUEUE, worked, { places: 1, perTarget: 1 });
    await stopping.enqueue([{ ...HERE, payload: { id: 'runs' } }]);
    await gate.reached;
    const stopped = stopping.stop(5_000);
    await other.enqueue([{ ...HERE, payload: { id: 'waits' } }]);
    gate.open();
    await stopped;
    expect(worked.items).to.deep.equal(['runs']);
    expect(await other.open(QUEUE)).to.equal(1);
    const next = new Worked();
    other.work(QUEUE, next, LIMITS);
    await next.count(1);
    expect(next.items).to.deep.equal(['waits']);
  });

  it('returns payloads that have not begun to the queue when it stops, and reports no failure', async () => {
    const [stopping, other] = [await open(), await open()];
    const gate = new Gate();
    stopping.work(
      QUEUE,
      {
        run: async ([done, waits], _target, _mayBeRepeat, signal) => {
          await gate.pass();
          expect(done).to.deep.equal({ id: 'item-0' });
          const error = signal.reason as Error;
          throw new PayloadsFailed([{ payload: waits as JobPayload, error }]);
        },
      },
      LIMITS,
    );
    await stopping.enqueue(requests(2));
    await gate.reached;
    const stopped = stopping.stop(5_000);
    gate.open();
    await stopped;
    expect(errors).to.deep.equal([]);
    const next = Promise.withResolvers<unknown>();
    const run: JobHandler['run'] = async (payloads, _target, mayBeRepeat) => next.resolve({ payloads, mayBeRepeat });
    other.work(QUEUE, { run }, LIMITS);
    expect(await next.promise).to.deep.equal({ payloads: [{ id: 'item-1' }], mayBeRepeat: false });
    await rest(other);
    expect(errors).to.deep.equal([]);
  });

  it('stops after its grace period, even if jobs still run', async () => {
    const jobs = await open();
    const gate = new Gate();
    jobs.work(QUEUE, new Worked(() => gate.pass()), LIMITS);
    await jobs.enqueue(requests(1));
    await gate.reached;
    await jobs.stop(20);
    expect(await jobs.open(QUEUE)).to.equal(1);
    gate.open();
    await rest(jobs); // the result of the late job is recorded nevertheless
  });

  it('releases the claims of a killed worker at once if no worker is alive', async () => {
    const killed = await open();
    const gate = new Gate();
    killed.work(QUEUE, new Worked(() => gate.pass()), LIMITS);
    await killed.enqueue([...requests(3), ...requests(2, { target: 'a' })]);
    await gate.reached;
    const active = (count: number) => async () =>
      (await backends.sql.query("SELECT FROM jobs.job WHERE state = 'active'")).rowCount === count;
    await backends.until(active(2));
    await killed.stop(0); // for the database, the worker died here
    const next = await open();
    const worked = new Worked();
    next.work(QUEUE, worked, LIMITS);
    await next.enqueue([{ ...HERE, payload: { id: 'new' } }]);
    await worked.count(1);
    expect(worked.items).to.deep.equal(['new']);
    await backends.until(active(2)); // releaseClaims would release the new worker's own claim, too
    await next.releaseClaims();
    next.wake([HERE]);
    await worked.count(6);
    expect(worked.items.toSorted()).to.deep.equal(['a-0', 'a-1', 'item-0', 'item-1', 'item-2', 'new']);
    gate.open();
  });

  it('touches the claims of a live worker as long as they run', async () => {
    const jobs = await open({ heartbeatMs: 20 });
    const gate = new Gate();
    jobs.work(QUEUE, new Worked(() => gate.pass()), LIMITS);
    await jobs.enqueue(requests(1));
    await gate.reached;
    const touchedAfterMs = async () => {
      const text =
        "SELECT extract(epoch FROM heartbeat_on - started_on) * 1000 AS ms FROM jobs.job WHERE state = 'active'";
      const { rows } = await backends.sql.query<{ ms: string }>(text);
      return Number(rows[0]?.ms ?? 0);
    };
    const first = await backends.until(touchedAfterMs);
    await backends.until(async () => (await touchedAfterMs()) > first);
    gate.open();
    await rest(jobs);
    expect(errors).to.deep.equal([]);
  });

  it('reopens the claims of a killed worker once their heartbeats are old', async () => {
    const killed = await open();
    const gate = new Gate();
    const claimed = new Worked(() => gate.pass());
    killed.work(QUEUE, claimed, LIMITS);
    await killed.enqueue(['cold', 'warm', 'deadly', 'doomed'].flatMap((target) => requests(1, { target })));
    await claimed.count(4);
    await killed.stop(0); // for the database, the worker died here
    const touched = (target: string, secondsAgo: number, retries = 0) =>
      backends.sql.query(
        "UPDATE jobs.job SET heartbeat_on = now() - $2 * interval '1 s', retry_count = $3 WHERE group_tier = $1",
        [target, secondsAgo, retries],
      );
    await touched('cold', 60);
    await touched('warm', -60);
    await touched('deadly', 60, 6);
    await touched('doomed', 60, 30);
    const next = await open({ heartbeatMs: 20 });
    const worked = new Worked();
    next.work(QUEUE, worked, LIMITS);
    await worked.count(1);
    expect(worked.items).to.deep.equal(['cold-0']);
    const { rows } = await backends.sql.query(
      `SELECT group_tier, state, completed_on IS NOT NULL AS ended, output,
         round(extract(epoch FROM start_after - now()) / 10) AS waits_10_s
       FROM jobs.job WHERE group_tier IN ('deadly', 'doomed') ORDER BY group_tier`,
    );
    const output = { message: 'its worker died' };
    const left = rows.map(({ waits_10_s, ...row }) => (row.state === 'retry' ? { ...row, waits: +waits_10_s } : row));
    expect(left).to.deep.equal([
      { group_tier: 'deadly', state: 'retry', ended: false, output, waits: 6 },
      { group_tier: 'doomed', state: 'failed', ended: true, output },
    ]);
    await touched('warm', 60);
    await worked.count(2);
    expect(worked.items).to.deep.equal(['cold-0', 'warm-0']);
    expect(errors).to.deep.equal([]);
    gate.open();
  });

  it('opens again on existing queues, with their waiting jobs', async () => {
    const first = await open();
    await first.enqueue(requests(2));
    await first.stop(0);
    const again = await open();
    const worked = new Worked();
    again.work(QUEUE, worked, LIMITS);
    await worked.count(2);
    expect(worked.items).to.deep.equal(['item-0', 'item-1']);
  });
});
