// What processes owe that no read model shows: messages to be scheduled (`operations.owed`) and test clocks to be drained.
import type { JobRequest } from '../../application/ports/jobs.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { tenantOf } from '../jobs/lanes.ts';

interface OwedRow {
  readonly item: string;
  readonly tenant: string;
  readonly since: string;
}

/** Fan-outs written with the process's checkpoint longer than `olderThanMs` ago, and not done since; all, in pages. */
export async function* fanOutsOwed(db: Sql, olderThanMs: number, page: number): AsyncGenerator<readonly JobRequest[]> {
  for (let after = { since: '-infinity', item: '' }; ; ) {
    const { rows } = await db.query<OwedRow>(
      `SELECT item, tenant, since::text AS since FROM operations.owed
       WHERE queue = 'fanOut' AND since < now() - $1 * interval '1 millisecond' AND (since, item) > ($2::timestamptz, $3)
       ORDER BY since, item LIMIT $4`,
      [olderThanMs, after.since, after.item, page],
    );
    yield rows.map(({ item, tenant }) => ({ queue: 'fanOut', tenant: tenantOf(tenant), item }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last;
  }
}

/** A clock is marked as drained by the job that drains it, so that one without a job was forgotten. */
export async function* drainsOwed(db: Sql): AsyncGenerator<readonly JobRequest[]> {
  const { rows } = await db.query<{ account_id: AccountId }>(
    'SELECT account_id FROM operations.test_clocks WHERE draining ORDER BY account_id',
  );
  yield rows.map(({ account_id: accountId }) => ({
    queue: 'drainClock',
    tenant: { accountId, mode: 'test' },
    item: accountId,
  }));
}
