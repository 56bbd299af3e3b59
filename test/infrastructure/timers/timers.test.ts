// Timers become jobs when they are due in their account's time, in order, and the scan wakes for the next one.
import { expect } from 'chai';
import type { SqlPool, SqlStatement } from '../../../application/ports/sql.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { fireNextPage, fireTimersNow } from '../../../infrastructure/timers/groupFiring.ts';
import { TimerScan } from '../../../infrastructure/timers/timerScan.ts';
import {
  clearTimers,
  nextDueByClock,
  nextDueMs,
  setTimers,
  takeDueTimers,
  testTimers,
  timers,
} from '../../../infrastructure/timers/timerTable.ts';
import { plansOf, rowsRead } from '../../projections/engine/plans.ts';
import { Gate } from '../../projections/engine/scene.ts';
import { account, RecordingJobs, timer, timerKinds } from '../../support/operations.ts';
import { useDatabase } from '../../world/postgres.ts';

const NOW_MS = Date.parse('2026-11-21T13:00:00.000Z');
const at = (seconds: number) => new Date(NOW_MS + seconds * 1000).toISOString() as ReturnType<typeof timer>['dueAt'];

const JOB_A = {
  queue: 'expire',
  tenant: { accountId: account('acct'), mode: 'test' },
  payload: { paymentId: 'a' },
} as const;
/** Returns the timer of a message. */
const message = (key: string, dueAt: string) =>
  timer(key, dueAt, { kind: 'deliver', group: 'g', payload: { deliveryId: key } });

describe('timers', () => {
  let pool: PgPool;
  useDatabase('test', 4, (opened) => {
    pool = opened;
  });
  /** Sets a test clock that was moved at NOW_MS. */
  const clock = (name: string, seconds: number, draining: boolean) =>
    pool.query('INSERT INTO operations.test_clocks VALUES ($1, $2, $3, $4)', [name, seconds, draining, at(seconds)]);
  /** Returns the real time of the next timer, or null. */
  const next = async (): Promise<number | null> => {
    const dueMs = Math.min(await nextDueMs(pool, NOW_MS, timerKinds), (await nextDueByClock(pool, timerKinds)).dueMs);
    return dueMs === Number.POSITIVE_INFINITY ? null : dueMs;
  };
  const keys = (timers: readonly { key: string }[]) => timers.map(({ key }) => key).toSorted();

  it('are cleared with a generic plan, even if each call clears one timer', async () => {
    await pool.transaction(async (tx) => {
      for (let call = 0; call < 8; call++) await clearTimers(tx, [timer('a', at(1))]);
      const { rows } = await tx.query(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = 'clear_timers'",
      );
      expect(rows).to.deep.equal([{ generic_plans: 3, custom_plans: 5 }]);
    });
  });

  it('exist once per kind and key: setting moves them, repeats change nothing, clearing removes them', async () => {
    await setTimers(pool, [timer('a', at(1)), timer('b', at(2))]);
    await setTimers(pool, [timer('a', at(3))]);
    await setTimers(pool, [timer('a', at(3))]);
    await clearTimers(pool, [timer('b', at(2)), timer('never', at(0))]);
    await clearTimers(pool, [timer('b', at(2))]);
    await clearTimers(pool, []);
    expect(await takeDueTimers(pool, NOW_MS + 2_999, 10, timerKinds)).to.deep.equal([]);
    expect(await takeDueTimers(pool, NOW_MS + 3_000, 10, timerKinds)).to.deep.equal([timer('a', at(3))]);
    expect(await takeDueTimers(pool, NOW_MS + 3_000, 10, timerKinds)).to.deep.equal([]);
  });

  it('of a newer version or an unknown kind are left to a newer worker, and don’t wake this one', async () => {
    const later = timer('later', at(1), { payload: { v: 2, paymentId: 'later' } });
    await setTimers(pool, [later, timer('unknown', at(1), { kind: 'gift' }), timer('a', at(2))]);
    expect(await next()).to.equal(NOW_MS + 2_000);
    expect(keys(await takeDueTimers(pool, NOW_MS + 3_000, 10, timerKinds))).to.deep.equal(['a']);
    expect(await next()).to.equal(null);
    const newer = { versions: JSON.stringify({ expire: 2, gift: 1 }) };
    const taken = await takeDueTimers(pool, NOW_MS + 3_000, 10, newer);
    expect(keys(taken)).to.deep.equal(['later', 'unknown']);
    expect(taken.find(({ key }) => key === 'later')?.payload).to.deep.equal({ paymentId: 'later' });
  });

  it('of a newer version hold back the watchdog only until they are due, because after a rollback nothing fires them', async () => {
    const newer = { payload: { v: 2, paymentId: 'a' } };
    const [long, soon] = [new Date(Date.now() - 120_000).toISOString(), new Date(Date.now() + 60_000).toISOString()];
    const set = [timer('due', long as never, newer), timer('later', soon as never, newer), timer('own', long as never)];
    await setTimers(pool, set);
    expect(keys(await timers(pool, timerKinds).among(set))).to.deep.equal(['later', 'own']);
    const versions = JSON.stringify({ expire: 2 });
    expect(keys(await timers(pool, { versions }).among(set))).to.deep.equal(['due', 'later', 'own']);
  });

  it('of a creation only move to later, because a reaction may follow a repeat that it does not know (K7)', async () => {
    const { set, dueAt } = timers(pool, timerKinds);
    const creation = (seconds: number) => timer('a', at(seconds), { kind: 'resumeIssuing', onlyLater: true });
    const key = { kind: 'resumeIssuing', key: 'a' };
    expect(await dueAt(key)).to.equal(null);
    await set(creation(90));
    await setTimers(pool, [creation(60)]);
    expect(await dueAt(key)).to.equal(at(90));
    await set(creation(120));
    await set(creation(120));
    expect([await dueAt(key), await dueAt({ kind: 'expire', key: 'a' })]).to.deep.equal([at(120), null]);
  });

  it('are taken earliest first if there are more than requested', async () => {
    await setTimers(pool, [timer('c', at(-1)), timer('a', at(-3)), timer('b', at(-2)), timer('later', at(1))]);
    const taken = [];
    for (let n = 0; n < 3; n++) taken.push(...keys(await takeDueTimers(pool, NOW_MS, 1, timerKinds)));
    expect(taken).to.deep.equal(['a', 'b', 'c']);
    expect(await next()).to.equal(NOW_MS + 1_000);
  });

  it('follow the test clock of their account only in test mode, and don’t follow other accounts’ clocks', async () => {
    await clock('ahead', 3_600, false);
    await setTimers(pool, [
      timer('ahead', at(3_600), { account: account('ahead') }),
      timer('ahead-later', at(3_601), { account: account('ahead') }),
      timer('ahead-live', at(3_600), { account: account('ahead'), mode: 'live' }),
      timer('other', at(3_600)),
    ]);
    expect(await next()).to.equal(NOW_MS);
    expect(keys(await takeDueTimers(pool, NOW_MS - 1, 10, timerKinds))).to.deep.equal([]);
    expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal(['ahead']);
    expect(await next()).to.equal(NOW_MS + 1_000);
  });

  // Without this, a reaction that cleared two refunds' timers and a drain that took them blocked each other for 3 s, until one failed.
  it('that a reaction is changing are skipped instead of awaited', async () => {
    await setTimers(pool, [timer('a', at(-2)), timer('b', at(-2)), timer('c', at(-2))]);
    await pool.transaction(async (tx) => {
      await clearTimers(tx, [timer('b', at(-2))]);
      await testTimers(pool, new RecordingJobs(), timerKinds).done([timer('a', at(-2)), timer('b', at(-2))]);
      expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal(['c']);
    });
    expect(await next()).to.equal(null);
  });

  it('moved to later while a scan takes due ones keep their new time (K7)', async () => {
    await setTimers(
      pool,
      Array.from({ length: 5_000 }, (_, n) => timer(`far${n}`, at(9_999))),
    );
    const creation = (seconds: number) => timer('b', at(seconds), { kind: 'resumeIssuing', onlyLater: true });
    await setTimers(pool, [timer('a', at(-3)), creation(-2)]);
    await pool.query('ANALYZE operations.timers'); // so that the scan locks each timer only before it deletes it
    await pool.query(`CREATE FUNCTION operations.hold() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN old; END $$`);
    await pool.query(`CREATE TRIGGER hold BEFORE DELETE ON operations.timers FOR EACH ROW WHEN (old.key = 'a')
      EXECUTE FUNCTION operations.hold()`);
    let taking: ReturnType<typeof takeDueTimers> = Promise.resolve([]);
    await pool.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(4711)');
      taking = takeDueTimers(pool, NOW_MS, 10, timerKinds, false);
      const waits = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted`;
      while ((await pool.query(waits)).rowCount === 0);
      await timers(pool, timerKinds).set(creation(60));
    });
    expect((await taking).map(({ key, dueAt }) => [key, dueAt])).to.deep.equal([['a', at(-3)]]);
    expect(await timers(pool, timerKinds).dueAt({ kind: 'resumeIssuing', key: 'b' })).to.equal(at(60));
  });

  it('of a fired group, which are all due at one time, are each read by their key', async () => {
    await setTimers(
      pool,
      Array.from({ length: 5_000 }, (_, n) => message(`${n}`, at(n + 1))),
    );
    await pool.query('VACUUM ANALYZE operations.timers');
    await pool.query("UPDATE operations.timers SET due_at = 'epoch' WHERE key < '2'");
    const claim = (db: SqlPool) => takeDueTimers(db, NOW_MS, 500, timerKinds, false);
    expect(rowsRead(await plansOf(pool, claim))).to.be.within(1_500, 2_100);
  });

  it('changed by a reaction that is rolled back are taken by the next look', async () => {
    await setTimers(pool, [timer('a', at(-1))]);
    const failing = pool.transaction(async (tx) => {
      await clearTimers(tx, [timer('a', at(-1))]);
      expect(await takeDueTimers(pool, NOW_MS, 10, timerKinds)).to.deep.equal([]);
      throw new Error('rolled back');
    });
    expect(await failing.catch(({ message }: Error) => message)).to.equal('rolled back');
    expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal(['a']);
  });

  it('of an account that is being drained are left until it is drained, except its live ones', async () => {
    await clock('drained', 3_600, true);
    const own = { account: account('drained') };
    await setTimers(pool, [
      timer('t', at(-5), own),
      timer('live', at(-4), { ...own, mode: 'live' }),
      timer('soon', at(10)),
    ]);
    expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal(['live']);
    expect(await next()).to.equal(NOW_MS + 10_000);
    const drained = testTimers(pool, new RecordingJobs(), timerKinds);
    expect(await drained.drainsUntil(account('drained'))).to.equal(at(3_600));
    expect(await drained.drained(account('drained'), at(3_599))).to.equal(false); // moved on meanwhile
    expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal([]);
    expect(await drained.drained(account('drained'), at(3_600))).to.equal(true);
    expect(await drained.drainsUntil(account('drained'))).to.equal(null);
    expect(await next()).to.equal(NOW_MS - 3_605_000);
    expect(keys(await takeDueTimers(pool, NOW_MS, 10, timerKinds))).to.deep.equal(['t']);
  });

  it('due after the jump of the clock are taken when the account’s time reaches them, even during the drain', async () => {
    await clock('drained', 3_600, true);
    const own = { account: account('drained') };
    await setTimers(pool, [
      timer('jumped', at(3_600), own),
      timer('next', at(3_610), own),
      timer('later', at(3_611), own),
    ]);
    expect(await next()).to.equal(NOW_MS + 10_000);
    expect(keys(await takeDueTimers(pool, NOW_MS + 9_999, 10, timerKinds))).to.deep.equal([]);
    expect(keys(await takeDueTimers(pool, NOW_MS + 10_000, 10, timerKinds))).to.deep.equal(['next']);
    expect(await next()).to.equal(NOW_MS + 11_000);
  });

  it('of a drain hide no other timer from the next look, which reads 500 of them at most', async () => {
    await clock('drained', 86_400, true);
    await pool.query(
      `INSERT INTO operations.timers (kind, key, payload, account_id, mode, due_at)
       SELECT 'expire', 'd' || n, '{}', 'drained', 'test', $1::timestamptz + n * interval '1 second' FROM generate_series(1, 2000) n`,
      [at(0)],
    );
    await setTimers(pool, [timer('near', at(400)), timer('far', at(1_200))]);
    await pool.query('VACUUM ANALYZE operations.timers');
    expect(await next()).to.equal(NOW_MS + 400_000);
    await clearTimers(pool, [timer('near', at(400))]);
    expect(await next()).to.equal(NOW_MS + 500_000);
    expect(await nextDueMs(pool, NOW_MS + 1_000_000, timerKinds)).to.equal(NOW_MS + 1_200_000);
    expect(rowsRead(await plansOf(pool, (db) => nextDueMs(db, NOW_MS, timerKinds)))).to.be.at.most(1_600);
    await clearTimers(pool, [timer('far', at(1_200))]);
    expect(await nextDueMs(pool, NOW_MS + 1_999_000, timerKinds)).to.equal(Number.POSITIVE_INFINITY);
    // Those that are due by real time are passed over, without a look at their clock for each.
    const claim = (db: SqlPool) => takeDueTimers(db, NOW_MS + 2_000_000, 10, timerKinds);
    expect(rowsRead(await plansOf(pool, claim))).to.be.within(2_000, 2_100);
  });

  it('of a drained account become jobs once when they are sent, and are removed', async () => {
    const jobs = new RecordingJobs();
    const drained = testTimers(pool, jobs, timerKinds);
    const [a, b] = [message('a', at(1)), message('b', at(1))];
    await setTimers(pool, [a, b]);
    await setTimers(pool, [message('b', at(3))]);
    for (let n = 0; n < 2; n++) await drained.send([a, b]);
    expect(jobs.enqueued).to.deep.equal([
      { ...JOB_A, queue: 'deliver', payload: { deliveryId: 'a', dueAt: at(1) }, target: 'g' },
    ]);
    expect(keys(await takeDueTimers(pool, NOW_MS + 10_000, 10, timerKinds))).to.deep.equal(['b']);
  });

  it('of a drained account are returned one time at a time, up to the given time, and removed only if their time is unchanged', async () => {
    const drained = testTimers(pool, new RecordingJobs(), timerKinds);
    const [a, b] = [timer('a', at(1)), timer('b', at(1))];
    await setTimers(pool, [a, b, timer('c', at(2)), timer('d', at(9)), timer('live', at(0), { mode: 'live' })]);
    const first = await drained.earliest(account('acct'), at(5));
    expect(keys(first)).to.deep.equal(['a', 'b']);
    await setTimers(pool, [timer('b', at(3))]); // handling it set it again
    await drained.done(first);
    await drained.done(first);
    expect(keys(await drained.earliest(account('acct'), at(5)))).to.deep.equal(['c']);
    await drained.done([timer('c', at(2))]);
    expect(await drained.earliest(account('acct'), at(2.999))).to.deep.equal([]);
    expect(keys(await drained.earliest(account('acct'), at(3)))).to.deep.equal(['b']);
    await drained.done([timer('b', at(3))]);
    expect(await drained.earliest(account('acct'), at(5))).to.deep.equal([]);
  });

  describe('of a large group', () => {
    const GROUP = { kind: 'deliver', group: 'g' };
    const setMany = (count: number) =>
      setTimers(
        pool,
        Array.from({ length: count }, (_, n) => message(`${n}`.padStart(4, '0'), at(n))),
      );
    /** Returns how many timers fire now and how many later, and the number of unfinished firings. */
    const state = async (): Promise<readonly unknown[]> => {
      const { rows } = await pool.query(
        `SELECT count(*) FILTER (WHERE due_at = 'epoch')::int AS now, count(*) FILTER (WHERE due_at > 'epoch')::int AS later,
           (SELECT count(*) FROM operations.group_firings)::int AS firings FROM operations.timers`,
      );
      return Object.values(rows[0] as object);
    };

    it('are fired in pages of 500, the first with the reaction, and none twice', async () => {
      await setMany(1_700);
      await fireTimersNow(pool, GROUP);
      expect(await state()).to.deep.equal([500, 1_200, 1]);
      await fireTimersNow(pool, GROUP);
      expect(await state()).to.deep.equal([1_000, 700, 1]);
      const states: unknown[] = [];
      while (await fireNextPage(pool)) states.push(await state());
      expect(states).to.deep.equal([
        [1_500, 200, 1],
        [1_700, 0, 1],
      ]);
      expect(await state()).to.deep.equal([1_700, 0, 0]);
    });

    it('are fired by mode if the firing names it', async () => {
      await setMany(600);
      await setTimers(pool, [timer('live', at(9), { ...GROUP, mode: 'live' })]);
      await fireTimersNow(pool, { ...GROUP, mode: 'test' });
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal([600, 1, 0]);
    });

    it('keep their time if they are set after the firing', async () => {
      await setMany(1_000);
      await fireTimersNow(pool, GROUP);
      await setTimers(pool, [message('0000', at(5)), message('0999', at(5)), message('new', at(5))]);
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal([998, 3, 0]);
    });

    it('are fired later if a transaction that is rolled back has locked them', async () => {
      await setMany(502);
      await fireTimersNow(pool, GROUP);
      const rollback = new Error('rollback');
      const holding = pool.transaction(async (tx) => {
        await clearTimers(tx, [message('0501', at(501))]);
        while (await fireNextPage(pool));
        throw rollback;
      });
      expect(await holding.catch((error: unknown) => error)).to.equal(rollback);
      expect(await state()).to.deep.equal([501, 1, 1]);
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal([502, 0, 0]);
    });

    it('are fired in turn with other groups', async () => {
      await setMany(1_500);
      const other = Array.from({ length: 501 }, (_, n) => timer(`o${n}`, at(n), { kind: 'deliver', group: 'other' }));
      await setTimers(pool, other);
      await fireTimersNow(pool, GROUP);
      await fireTimersNow(pool, { kind: 'deliver', group: 'other' });
      for (let page = 0; page < 2; page++) await fireNextPage(pool);
      const { rows } = await pool.query(
        `SELECT group_id, count(*)::int AS fired FROM operations.timers WHERE due_at = 'epoch' GROUP BY 1 ORDER BY 1`,
      );
      expect(rows).to.deep.equal([
        { group_id: 'g', fired: 1_000 },
        { group_id: 'other', fired: 501 },
      ]);
    });
  });

  describe('of a scan', () => {
    let jobs: RecordingJobs;
    let scan: TimerScan;
    let errors: string[];
    const open = (db: SqlPool = pool) => {
      jobs = new RecordingJobs();
      errors = [];
      scan = new TimerScan(db, jobs, timerKinds, { now: Date.now }, (error) => errors.push(error.message));
      scan.start();
    };
    const nameOf = (statement: SqlStatement | string) => (typeof statement === 'string' ? null : statement.name);
    const soon = (ms: number) => new Date(Date.now() + ms).toISOString() as ReturnType<typeof timer>['dueAt'];
    afterEach(() => scan.stop());

    it('become jobs with their kind, tenant, key and target, once, even if they exceed a batch', async () => {
      const many = Array.from({ length: 1_001 }, (_, n) => message(`${n}`, at(-1)));
      await setTimers(pool, many);
      open();
      await jobs.count(1_001);
      expect(
        jobs.enqueued.toSorted((a, b) => Number(a.payload['deliveryId']) - Number(b.payload['deliveryId'])),
      ).to.deep.equal(
        many.map(({ key }) => ({
          ...JOB_A,
          queue: 'deliver',
          payload: { deliveryId: key, dueAt: at(-1) },
          target: 'g',
        })),
      );
      await scan.stop(); // its transaction has ended
      expect(await next()).to.equal(null);
    });

    it('that are fired in a large group let others pass after each page', async () => {
      const many = Array.from({ length: 1_400 }, (_, n) => message(`${n}`, at(3_600)));
      await setTimers(pool, [...many, timer('other', at(-1))]);
      await fireTimersNow(pool, { kind: 'deliver', group: 'g' });
      open();
      await jobs.count(1_401);
      expect(jobs.enqueued.findIndex(({ queue }) => queue === 'expire')).to.be.lessThan(1_000); // in the second batch
      await scan.stop();
      expect(await next()).to.equal(null);
    });

    /** Checks that none is early, and that the fastest is sooner than the regular poll. Other load on the machine may delay the rest. */
    const expectPunctual = (latenessMs: readonly number[]) => {
      expect(Math.min(...latenessMs)).to.be.within(0, 500);
    };

    it('wake the scan for the next one', async () => {
      const latenessMs: number[] = [];
      for (let n = 0; n < 3; n++) {
        const dueAt = soon(100);
        await setTimers(pool, [timer('a', dueAt)]);
        open();
        await jobs.count(1);
        latenessMs.push(Date.now() - Date.parse(dueAt));
        await scan.stop();
      }
      expectPunctual(latenessMs);
    });

    it('wake the scan if they are set while it sleeps, and at once if they have no time', async () => {
      open();
      await setTimers(pool, [timer('a', soon(0))]);
      scan.nudge('');
      await jobs.count(1);
      const latenessMs: number[] = [];
      for (const [n, key] of ['b', 'c', 'd'].entries()) {
        const dueAt = soon(100);
        await setTimers(pool, [timer(key, dueAt)]);
        scan.nudge(dueAt);
        await jobs.count(n + 2);
        latenessMs.push(Date.now() - Date.parse(dueAt));
      }
      expectPunctual(latenessMs);
      expect(jobs.enqueued.map(({ payload }) => payload['paymentId'])).to.deep.equal(['a', 'b', 'c', 'd']);
    });

    it('wake the scan if they are set while it looks for the next one', async () => {
      const latenessMs: number[] = [];
      for (let n = 0; n < 3; n++) {
        const gate = new Gate();
        let looks = 0;
        const slow: SqlPool = {
          transaction: (work) => pool.transaction(work),
          query: async (statement, values) => {
            const result = await pool.query(statement, values);
            if (nameOf(statement) === 'next_due' && looks++ === 0) await gate.pass(); // it has looked and found nothing
            return result as never;
          },
        };
        open(slow);
        await gate.reached;
        await setTimers(pool, [timer('a', soon(0))]);
        scan.nudge('');
        await new Promise((resolve) => setImmediate(resolve));
        const started = performance.now();
        gate.open();
        await jobs.count(1);
        latenessMs.push(performance.now() - started);
        await scan.stop();
      }
      expectPunctual(latenessMs);
    });

    it('that a reaction is changing are retried with pauses', async () => {
      await setTimers(pool, [timer('a', at(-1))]);
      const looked: number[] = [];
      const enough = Promise.withResolvers<void>();
      const counting: SqlPool = {
        query: (statement, values) => pool.query(statement, values),
        transaction: (work) => {
          if (looked.push(performance.now()) === 12) enough.resolve();
          return pool.transaction(work);
        },
      };
      await pool.transaction(async (tx) => {
        await clearTimers(tx, [timer('a', at(-1))]);
        open(counting);
        await enough.promise;
      });
      expect((looked[11] as number) - (looked[1] as number)).to.be.at.least(400);
      expect(jobs.enqueued).to.deep.equal([]);
    });

    it('of 10,000 test clocks are checked every 5 s, and wake the scan when they are due', async () => {
      let nowMs = NOW_MS;
      let looks = 0;
      let scanned = Promise.withResolvers<void>();
      const counting: SqlPool = {
        transaction: (work) => pool.transaction(work),
        query: async (statement, values) => {
          const result = await pool.query(statement, values);
          if (nameOf(statement) === 'next_due_by_clock') looks += 1;
          if (nameOf(statement) === 'next_due') scanned.resolve();
          return result as never;
        },
      };
      await pool.query(
        `INSERT INTO operations.test_clocks SELECT 'c' || n, 60, false, $1 FROM generate_series(1, 9999) n`,
        [at(60)],
      );
      await clock('ahead', 3_600, false);
      await setTimers(pool, [timer('a', at(3_600 + 20), { account: account('ahead') })]);
      jobs = new RecordingJobs();
      scan = new TimerScan(counting, jobs, timerKinds, { now: () => nowMs }, (error) => errors.push(error.message));
      scan.start();
      await scanned.promise;
      for (let second = 1; second < 20; second++) {
        nowMs = NOW_MS + 1_000 * second;
        scanned = Promise.withResolvers();
        scan.nudge('');
        await scanned.promise;
      }
      expect([looks, jobs.enqueued]).to.deep.equal([4, []]);
      nowMs = NOW_MS + 20_000;
      scan.nudge('');
      await jobs.count(1);
    });

    it('are kept if their jobs can’t be enqueued, and retried', async () => {
      let failures = 0;
      open();
      await scan.stop();
      jobs.enqueue = async () => {
        if (failures++ === 0) throw new Error('no queue');
        jobs.enqueued.push(JOB_A);
      };
      await setTimers(pool, [timer('a', at(-1))]);
      const again = new TimerScan(pool, jobs, timerKinds, { now: Date.now }, (error) => {
        errors.push(error.message);
        setImmediate(() => again.nudge(''));
      });
      again.start();
      for (const end = Date.now() + 30_000; jobs.enqueued.length === 0 && Date.now() < end; )
        await pool.query('SELECT 1');
      await again.stop();
      expect([errors, jobs.enqueued]).to.deep.equal([['no queue'], [JOB_A]]);
    });
  });
});
