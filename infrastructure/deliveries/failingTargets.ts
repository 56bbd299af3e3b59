// Failing targets in PostgreSQL. Nothing is written for a healthy target.
import type { FailingTargets, ProbeRule, TimedAttempt } from '../../application/ports/failingTargets.ts';
import { type SqlPool, TextArray } from '../../application/ports/sql.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { gatheredReads } from '../postgres/gathered.ts';
import { bringTimersForward } from '../timers/groupFiring.ts';

/** Longer than the longest wait for a retry (24 h), so that all attempts of that time have failed again or ended. */
const FORGOTTEN_AFTER = '3 days';

const tenantAndTarget = ({ group, account, mode }: TimedAttempt) => [group, account, mode] as const;

/**
 * Assigns an attempt its turn: the next free one, or the first turn of a younger attempt. Younger ones then move back by one turn. An
 * attempt that already has a turn keeps it. Turns are in the order of age, so the younger attempts are those behind the last older one. The
 * search for that one goes backwards from the next free turn, so that the other attempts are not read.
 */
const holdText = (attempts: string): string => `WITH known AS (
    SELECT t.due_at AS at FROM operations.timers t WHERE t.kind = '${attempts}' AND t.key = $4 AND t.held AND t.due_at > $5),
  turn AS (
    UPDATE operations.failing_targets SET next_probe_at = greatest(next_probe_at, $5) + $6 * interval '1 second'
    WHERE target = $1 AND NOT EXISTS (SELECT FROM known)
    RETURNING next_probe_at - $6 * interval '1 second' AS at),
  older AS (
    SELECT t.due_at FROM turn CROSS JOIN LATERAL (SELECT t.due_at FROM operations.timers t
      WHERE t.group_id = $1 AND t.kind = '${attempts}' AND t.held AND t.held_since <= $7 AND t.due_at > $5 AND t.due_at < turn.at
      ORDER BY t.due_at DESC LIMIT 1) t),
  younger AS (
    SELECT t.key, t.due_at, lead(t.due_at, 1, turn.at) OVER (ORDER BY t.due_at) AS next_at FROM operations.timers t, turn
    WHERE t.group_id = $1 AND t.kind = '${attempts}' AND t.held AND t.held_since > $7 AND t.due_at < turn.at
      AND t.due_at > coalesce((SELECT due_at FROM older), $5)),
  moved AS (
    UPDATE operations.timers t SET due_at = younger.next_at FROM younger
    WHERE t.kind = '${attempts}' AND t.key = younger.key AND t.due_at = younger.due_at),
  own AS (SELECT coalesce((SELECT min(due_at) FROM younger), at) AS at FROM turn),
  held AS (
    INSERT INTO operations.timers (kind, key, payload, account_id, mode, group_id, due_at, held, held_since)
    SELECT '${attempts}', $4, $8::jsonb, $2, $3, $1, at, true, $7 FROM own WHERE at > $5
    ON CONFLICT (kind, key) DO UPDATE SET due_at = excluded.due_at, held = true, held_since = excluded.held_since, set_at = now())
  SELECT (extract(epoch FROM at) * 1000)::bigint AS at_ms, at <= $5 AS is_now
  FROM (SELECT at FROM known UNION ALL SELECT at FROM own) found`;

/** Holds attempts back while a target fails, and releases them when it recovers. */
const heldBack = (
  db: SqlPool,
  attempts: string,
  { failuresInARow, everySeconds }: ProbeRule,
): Pick<FailingTargets, 'hold' | 'recovered'> => ({
  // Holding back and releasing lock the target's row, so that every held attempt is released later. The second statement sees the attempts
  // that were held while the first one waited for that row.
  hold: (attempt) =>
    db.transaction(async (tx) => {
      const { rowCount } = await tx.query(
        'SELECT FROM operations.failing_targets WHERE target = $1 AND failures >= $2 FOR UPDATE',
        [attempt.group, failuresInARow],
      );
      if (rowCount === 0) return null;
      const { rows } = await tx.query<{ at_ms: number; is_now: boolean }>(holdText(attempts), [
        ...tenantAndTarget(attempt),
        attempt.key,
        attempt.dueAt,
        everySeconds,
        attempt.since,
        JSON.stringify(attempt.payload),
      ]);
      const turn = rows[0];
      return turn === undefined || turn.is_now ? null : fromMillis(turn.at_ms);
    }),

  // Forgetting the target waits for attempts that are being held back, so the firing that follows also releases them.
  recovered: (target, at) =>
    db.transaction(async (tx) => {
      const { rows } = await tx.query<{ failures: number }>(
        'DELETE FROM operations.failing_targets WHERE target = $1 RETURNING failures',
        [target],
      );
      if ((rows[0]?.failures ?? 0) < failuresInARow) return;
      await bringTimersForward(tx, { kind: attempts, group: target }, at);
    }),
});

const failuresOf = (db: SqlPool): FailingTargets['failuresOf'] => {
  const read = gatheredReads(async (targets) => {
    const { rows } = await db.query<{ target: string; failures: number }>({
      name: 'failures_of_targets',
      text: 'SELECT target, failures FROM operations.failing_targets WHERE target = ANY($1::text[])',
      values: [new TextArray(targets)],
    });
    return new Map(rows.map((row) => [row.target, row.failures]));
  });
  return async (target) => (await read([target])).get(target) ?? 0;
};

/** `attempts` is the kind of the timers that hold attempts back. */
export const failingTargets = (db: SqlPool, attempts: string, rule: ProbeRule): FailingTargets => ({
  ...heldBack(db, attempts, rule),

  failuresOf: failuresOf(db),

  failing: async (targets) => {
    type Row = { target: string; since_ms: number; last_error: string; waiting: number };
    const { rows } = await db.query<Row>({
      name: 'failing_targets',
      text: `SELECT f.target, (extract(epoch FROM f.failing_since) * 1000)::bigint AS since_ms, f.last_error,
          (SELECT count(*) FROM operations.timers t WHERE t.group_id = f.target AND t.kind = '${attempts}' AND t.held) AS waiting
        FROM operations.failing_targets f WHERE f.target = ANY($1::text[]) AND f.failures >= $2`,
      values: [new TextArray([...targets]), rule.failuresInARow],
    });
    return new Map(
      rows.map(({ target, since_ms: sinceMs, last_error: lastError, waiting }) => [
        target,
        { failingSince: fromMillis(sinceMs), lastError, waiting },
      ]),
    );
  },

  failed: async (attempt, error) => {
    const { rows } = await db.query<{ failures: number }>({
      name: 'target_failed',
      text: `INSERT INTO operations.failing_targets AS f (target, account_id, mode, failures, failing_since, next_probe_at, last_error)
        VALUES ($1, $2, $3, 1, $4, $4::timestamptz + $6 * interval '1 second', $5)
        ON CONFLICT (target) DO UPDATE SET failures = f.failures + 1, last_error = excluded.last_error, changed_at = now(),
          next_probe_at = CASE WHEN f.failures < $7 THEN excluded.next_probe_at ELSE f.next_probe_at END
        RETURNING failures`,
      values: [...tenantAndTarget(attempt), attempt.dueAt, error, rule.everySeconds, rule.failuresInARow],
    });
    return rows[0]?.failures ?? 1;
  },

  // Ordered by name, so that two callers that forget several targets can't deadlock.
  forget: async (targets, tx) => {
    await tx.query(
      `DELETE FROM operations.failing_targets f USING
         (SELECT target FROM operations.failing_targets WHERE target = ANY($1::text[]) ORDER BY target FOR UPDATE) known
       WHERE f.target = known.target`,
      [new TextArray([...targets])],
    );
  },

  forgetOld: async () => {
    await db.query(`DELETE FROM operations.failing_targets WHERE changed_at < now() - interval '${FORGOTTEN_AFTER}'`);
  },
});
