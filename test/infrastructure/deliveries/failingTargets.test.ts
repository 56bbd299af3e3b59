// First attempts for a failing target become probes, one a minute, and are all released when the target accepts a delivery (W3).
import { expect } from 'chai';
import type { FailingTargets, TimedAttempt } from '../../../application/ports/failingTargets.ts';
import { PROBE_RULE } from '../../../application/webhooks/endpointHealth.ts';
import { failingTargets } from '../../../infrastructure/deliveries/failingTargets.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { fireNextPage, fireTimersNow } from '../../../infrastructure/timers/groupFiring.ts';
import { clearTimers, setTimers, takeDueTimers, testTimers } from '../../../infrastructure/timers/timerTable.ts';
import { plansOf, rowsRead } from '../../projections/engine/plans.ts';
import { account, RecordingJobs, timer, timerKinds } from '../../support/operations.ts';
import { useDatabase } from '../../world/postgres.ts';

const NOW_MS = Date.parse('2026-11-21T13:00:00.000Z');
const at = (seconds: number) => new Date(NOW_MS + seconds * 1000).toISOString() as TimedAttempt['dueAt'];
/** Returns the timer as the table stores it. */
const row = (key: string, seconds: number, group = 'we') =>
  timer(key, at(seconds), { kind: 'deliver', group, mode: 'live' });
const attempt = (key: string, seconds: number, group = 'we', since = seconds): TimedAttempt => ({
  ...row(key, seconds, group),
  group,
  since: at(since),
});

describe('failing targets', () => {
  let pool: PgPool;
  /** The failing targets as two workers see them. */
  let one: FailingTargets;
  let other: FailingTargets;
  useDatabase('test', 8, (opened) => {
    pool = opened;
  });
  beforeEach(async () => {
    [one, other] = [failingTargets(pool, 'deliver', PROBE_RULE), failingTargets(pool, 'deliver', PROBE_RULE)];
  });
  const fail = async (seconds: readonly number[], group = 'we') => {
    const counts = [];
    for (const second of seconds) counts.push(await one.failed(attempt('f', second, group), `status: ${second}`));
    return counts;
  };
  const held = async () => {
    const { rows } = await pool.query<{ key: string; after: number }>(
      `SELECT key, extract(epoch FROM due_at - $1)::int AS after FROM operations.timers WHERE held ORDER BY due_at`,
      [at(0)],
    );
    return rows.map(({ key, after }) => [key, after]);
  };
  const taken = async (seconds: number) =>
    (await takeDueTimers(pool, NOW_MS + seconds * 1_000, 100, timerKinds)).toSorted(byKey);
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);

  it('count consecutive failures per target across all workers', async () => {
    expect(await one.failuresOf('we')).to.equal(0);
    expect(await fail([0, 1, 2])).to.deep.equal([1, 2, 3]);
    expect(await other.failed(attempt('f', 3), 'timeout')).to.equal(4);
    expect([await one.failuresOf('we'), await other.failuresOf('else')]).to.deep.equal([4, 0]);
    const { rows } = await pool.query(
      'SELECT target, account_id, mode, failures, failing_since, last_error FROM operations.failing_targets',
    );
    expect(rows).to.deep.equal([
      {
        target: 'we',
        account_id: 'acct',
        mode: 'live',
        failures: 4,
        failing_since: new Date(NOW_MS),
        last_error: 'timeout',
      },
    ]);
  });
  it('are reported from the third consecutive failure on, with its start, the last error and the number of held deliveries', async () => {
    await fail([0, 1]);
    await fail([0, 1, 2], 'else');
    const failing = async (...targets: string[]) => [...(await one.failing(targets))];
    expect(await failing('we', 'never')).to.deep.equal([]);
    await fail([5]);
    const known = { failingSince: at(0), lastError: 'status: 5' };
    expect(await failing('we')).to.deep.equal([['we', { ...known, waiting: 0 }]]);
    for (const key of ['a', 'b']) await other.hold(attempt(key, 10));
    await setTimers(pool, [row('retry', 20)]); // a retry is not held back
    expect(await failing('never', 'we')).to.deep.equal([['we', { ...known, waiting: 2 }]]);
    await one.recovered('we', at(30));
    expect(await failing('we')).to.deep.equal([]);
    expect(await failing()).to.deep.equal([]);
  });
  it('hold nothing back below three failures, or for an unknown target', async () => {
    await fail([0, 1]);
    expect([await one.hold(attempt('a', 2)), await one.hold(attempt('b', 2, 'else'))]).to.deep.equal([null, null]);
    expect(await held()).to.deep.equal([]);
  });
  it('give the earliest probe to the oldest delivery, in any order of requests', async () => {
    await fail([0, 1, 2]);
    expect(await one.hold(attempt('c', 10, 'we', 9))).to.equal(at(62));
    expect(await other.hold(attempt('d', 10, 'we', 10))).to.equal(at(122));
    expect(await one.hold(attempt('a', 11, 'we', 7))).to.equal(at(62));
    expect(await other.hold(attempt('b', 11, 'we', 8))).to.equal(at(122));
    expect(await one.hold(attempt('a', 12, 'we', 7))).to.equal(at(62)); // again
    expect(await held()).to.deep.equal([
      ['a', 62],
      ['b', 122],
      ['c', 182],
      ['d', 242],
    ]);
  });
  it('give the earliest probe to the oldest delivery under concurrent requests', async () => {
    await fail([0, 1, 2]);
    const ages = [5, 3, 9, 1, 7, 2, 8, 4, 6];
    await Promise.all(ages.map((age, n) => (n % 2 ? one : other).hold(attempt(`d${age}`, 10, 'we', age))));
    expect((await held()).map(([key]) => key)).to.deep.equal(ages.toSorted().map((age) => `d${age}`));
  });
  it('schedule probes in order, one a minute from the third failure on, regardless of later failures', async () => {
    await fail([0, 1, 2]);
    expect(await one.hold(attempt('a', 10))).to.equal(at(62));
    expect(await other.hold(attempt('b', 11))).to.equal(at(122));
    await fail([12, 13]);
    expect(await one.hold(attempt('c', 14))).to.equal(at(182));
    expect(await held()).to.deep.equal([
      ['a', 62],
      ['b', 122],
      ['c', 182],
    ]);
    expect(await taken(62)).to.deep.equal([{ ...row('a', 62), held: true }]);
  });
  it('return the same probe time if a delivery is held again', async () => {
    await fail([0, 1, 2]);
    for (const second of [10, 11]) expect(await one.hold(attempt('a', second))).to.equal(at(62));
    expect(await one.hold(attempt('b', 12))).to.equal(at(122));
  });
  it('release a delivery at once if a minute passed without a probe; the next one waits another minute', async () => {
    await fail([0, 1, 2]);
    expect(await one.hold(attempt('a', 62))).to.equal(null);
    expect(await one.hold(attempt('b', 70))).to.equal(at(122));
    expect(await one.hold(attempt('c', 71))).to.equal(at(182));
    expect(await one.hold(attempt('d', 500))).to.equal(null);
    expect(await held()).to.deep.equal([
      ['b', 122],
      ['c', 182],
    ]);
  });
  it('release held deliveries and retries at once on recovery, but not those of other targets', async () => {
    await fail([0, 1, 2]);
    await fail([0, 1, 2], 'else');
    await setTimers(pool, [attempt('retry', 7_200), attempt('past', 20), attempt('elsewhere', 7_200, 'else')]);
    for (const key of ['a', 'b']) await one.hold(attempt(key, 10));
    await one.hold(attempt('stays', 10, 'else'));
    await other.recovered('we', at(30));
    expect(await taken(20)).to.deep.equal([row('past', 20)]);
    expect(await taken(30)).to.deep.equal([row('a', 30), row('b', 30), row('retry', 30)]);
    expect(await held()).to.deep.equal([['stays', 62]]);
    expect(await one.hold(attempt('c', 31))).to.equal(null);
    expect(await fail([40])).to.deep.equal([1]); // the count starts again
  });
  it('bring no retry forward on a repeated recovery or for a target below three failures', async () => {
    await fail([0, 1]);
    await setTimers(pool, [attempt('retry', 7_200)]);
    for (let n = 0; n < 2; n++) await one.recovered('we', at(30));
    await one.recovered('never', at(30));
    expect(await taken(7_199)).to.deep.equal([]);
  });
  it('lose no delivery that is held during the recovery', async () => {
    for (let round = 0; round < 20; round++) {
      await fail([0, 1, 2]);
      const keys = ['a', 'b', 'c', 'd'];
      const waits: (string | null)[] = [];
      await Promise.all([
        ...keys.map(async (key, i) => {
          waits[i] = await one.hold(attempt(key, 10));
        }),
        other.recovered('we', at(30)),
      ]);
      const expected = keys.filter((_, i) => waits[i] !== null);
      expect((await taken(30)).map(({ key }) => key)).to.deep.equal(expected);
      expect(await held()).to.deep.equal([]);
    }
  });
  it('release a held delivery, no longer as a probe, when its timers are fired at once', async () => {
    await fail([0, 1, 2]);
    await one.hold(attempt('a', 10));
    await fireTimersNow(pool, { kind: 'deliver', group: 'we' });
    expect(await taken(11)).to.deep.equal([{ ...row('a', 0), dueAt: new Date(0).toISOString() }]);
  });
  describe('of many held deliveries', () => {
    beforeEach(async () => {
      await fail([0, 1, 2]);
      await pool.query(
        `INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at, held, held_since)
         SELECT 'deliver', 'n' || n, '{}', 'acct', 'test', 'we', $1::timestamptz + n * interval '1 minute', true, $1
         FROM generate_series(1, 1200) n`,
        [at(2)],
      );
    });
    /** Returns how many timers are held, and how many are due at each time in seconds. */
    const state = async () => {
      const { rows } = await pool.query<{ held: number; after: number; due: number }>(
        `SELECT count(*) FILTER (WHERE held)::int AS held, count(*) FILTER (WHERE NOT held)::int AS due,
           CASE WHEN NOT held THEN extract(epoch FROM due_at - $1)::int END AS after
         FROM operations.timers GROUP BY 3 ORDER BY 3`,
        [at(0)],
      );
      return rows.map(({ held, after, due }) => (after === null ? `${held} held` : `${due} at ${after}`));
    };
    const EPOCH = -NOW_MS / 1_000;

    it('release 500 with the recovery and the others in pages, each once', async () => {
      await one.recovered('we', at(30));
      expect(await state()).to.deep.equal(['500 at 30', '700 held']);
      expect(await taken(30)).to.have.lengthOf(100);
      const states = [];
      while (await fireNextPage(pool)) states.push(await state());
      expect(states).to.deep.equal([['900 at 30', '200 held'], ['1100 at 30']]);
      expect(await state()).to.deep.equal(['1100 at 30']);
      expect((await pool.query('SELECT FROM operations.group_firings')).rowCount).to.equal(0);
    });
    it('wait for no locked timer, and release it later', async () => {
      const rollback = new Error('rollback');
      const locking = pool.transaction(async (tx) => {
        await clearTimers(tx, [row('n1', 0), row('n1200', 0)]);
        await one.recovered('we', at(30));
        while (await fireNextPage(pool));
        throw rollback;
      });
      expect(await locking.catch((error: unknown) => error)).to.equal(rollback);
      expect(await state()).to.deep.equal(['1198 at 30', '2 held']);
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal(['1200 at 30']);
    });
    it('keep those held that are held after the recovery', async () => {
      await one.recovered('we', at(30));
      await fail([31, 32, 33]);
      await one.hold(attempt('later', 34));
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal(['1200 at 30', '1 held']);
    });
    it('use the later of two recoveries for the rest, and fire it at once if the endpoint changes', async () => {
      await one.recovered('we', at(30));
      await fail([31, 32, 33]);
      await one.recovered('we', at(40));
      expect(await state()).to.deep.equal(['500 at 30', '500 at 40', '200 held']);
      await fireTimersNow(pool, { kind: 'deliver', group: 'we' });
      while (await fireNextPage(pool));
      expect(await state()).to.deep.equal([`1200 at ${EPOCH}`]);
    });
    it('keep a test clock draining until all are released', async () => {
      await pool.query("INSERT INTO operations.test_clocks VALUES ('acct', 60, true, $1)", [at(60)]);
      const drain = testTimers(pool, new RecordingJobs(), timerKinds);
      await one.recovered('we', at(30));
      const fired = async () => (await pool.query('SELECT account_id, mode FROM operations.fired_groups')).rows;
      expect(await fired()).to.deep.equal([{ account_id: 'acct', mode: 'test' }]);
      for (let page = 0; page < 2; page++) {
        expect(await drain.drained(account('acct'), at(60))).to.equal(false);
        expect(await drain.areFiring(account('acct'))).to.equal(true);
      }
      expect(await drain.areFiring(account('acct'))).to.equal(false);
      expect([await state(), await fired()]).to.deep.equal([['1200 at 30'], []]);
      expect(await drain.drained(account('acct'), at(60))).to.equal(true);
    });
  });
  it('move no turn of an attempt that is released meanwhile', async () => {
    await fail([0, 1, 2]);
    await one.hold(attempt('young', 10));
    await pool.query("INSERT INTO operations.group_firings (kind, group_id, mode) VALUES ('deliver', 'we', 'any')");
    const holding = await pool.transaction(async (tx) => {
      await fireNextPage(tx);
      const waiting = [other.hold(attempt('old', 11, 'we', 5))];
      const BLOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      const isBlocked = async () => (await pool.query(BLOCKED)).rowCount !== 0;
      while (!(await isBlocked()));
      return waiting;
    });
    expect(await Promise.all(holding)).to.deep.equal([at(62)]);
    expect(await taken(11)).to.deep.equal([{ ...row('young', 0), dueAt: new Date(0).toISOString() }]);
  });
  it('read only the younger attempts of a target when they hold one back, however many are held', async () => {
    await fail([0, 1, 2]);
    await pool.query(
      `INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at, held, held_since)
       SELECT 'deliver', 'n' || n, '{}', 'acct', 'live', 'we', $1::timestamptz + n * interval '1 minute', true,
         $1::timestamptz + n * interval '1 ms' FROM generate_series(1, 20000) n`,
      [at(2)],
    );
    await pool.query('UPDATE operations.failing_targets SET next_probe_at = $1', [at(2 + 20_001 * 60)]);
    // Retries wait beside them.
    await setTimers(pool, [row('retry', 70), row('later', 3_000_000)]);
    await pool.query('VACUUM ANALYZE operations.timers');
    const rowsToHold = async (key: string, since: number): Promise<number> =>
      rowsRead(
        await plansOf(pool, (db) => failingTargets(db, 'deliver', PROBE_RULE).hold(attempt(key, 30, 'we', since))),
      );
    expect(await rowsToHold('youngest', 30)).to.be.within(1, 10);
    expect(await rowsToHold('older', 21.998)).to.be.within(1, 30);
    expect((await held()).slice(-5)).to.deep.equal(
      ['n19998', 'older', 'n19999', 'n20000', 'youngest'].map((key, n) => [key, 2 + (19_998 + n) * 60]),
    );
  });
  it('are deleted after three days without a failure, not before', async () => {
    await fail([0, 1, 2]);
    await fail([0], 'old');
    await pool.query(
      "UPDATE operations.failing_targets SET changed_at = now() - interval '3 days 1 minute' WHERE target = 'old'",
    );
    await pool.query(
      "UPDATE operations.failing_targets SET changed_at = now() - interval '71 hours' WHERE target = 'we'",
    );
    await one.forgetOld();
    expect([await one.failuresOf('we'), await one.failuresOf('old')]).to.deep.equal([3, 0]);
  });
});
