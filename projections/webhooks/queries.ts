// Queries of webhook endpoints and deliveries of one account and mode, except those for the watchdog.

import { pagesOf } from '../../application/ports/pagesOf.ts';
import { assertCountable, type CaughtUp } from '../../application/ports/readModels/progress.ts';
import type { EndpointReads, EndpointViews } from '../../application/ports/readModels/views.ts';
import type { DeliveryReads } from '../../application/ports/readModels/webhookDeliveries.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type { AccountId, DeliveryId, Mode, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingEndpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { hasNoTimer, IS_UNTRIED } from './untried.ts';

/** Returns the endpoints that are not deleted, oldest first. */
const listEndpoints = async (db: Sql, { accountId, mode }: Tenant): Promise<readonly ExistingEndpoint[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT state FROM rm_webhook_endpoints.endpoints WHERE account_id = $1 AND mode = $2 AND status <> 'deleted' ORDER BY created_at, id`,
    [accountId, mode],
  );
  return rows.map(({ state }) => JSON.parse(state) as ExistingEndpoint);
};

export const endpointReads = (db: Sql, caughtUp: CaughtUp): EndpointReads => ({
  count: async (tenant) => {
    await assertCountable(caughtUp, 'webhookEndpoints', 'the endpoints could not be counted');
    return (await listEndpoints(db, tenant)).length;
  },
  subscriptions: async (tenant) =>
    (await listEndpoints(db, tenant)).flatMap(({ status, events }) => (status === 'active' ? [events] : [])),
});
export const endpointViews = (db: Sql): EndpointViews => ({ list: (tenant) => listEndpoints(db, tenant) });

/** Returns the SELECT of deliveries that await an attempt and meet `condition`; `at` is the due time of the attempt. */
const pendingThat = (condition: (row: string, at: string) => string): string => `(
  SELECT d.id, d.account_id, d.mode, d.target, d.next_attempt_at FROM rm_webhook_deliveries.deliveries d
  WHERE d.next_attempt_at IS NOT NULL AND ${condition('d', 'd.next_attempt_at')}
  UNION ALL
  SELECT s.id, s.account_id, s.mode, s.target, s.scheduled_at FROM operations.waiting_deliveries s
  WHERE ${IS_UNTRIED} AND ${condition('s', 's.scheduled_at')})`;
/** Deliveries of a tenant ($1, $2) that are due by $3, or whose ids are in $4. */
const DUE_OR_NAMED = pendingThat(
  (row, at) => `${row}.account_id = $1 AND ${row}.mode = $2 AND (${at} <= $3 OR ${row}.id = ANY($4::text[]))`,
);

interface OverdueRow {
  readonly next_attempt_at: string;
  readonly due_at: Timestamp;
  readonly id: DeliveryId;
  readonly target: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

// In account time, as for payments: an account with an advanced test clock uses its own clock.
const hasClock = (row: string): string =>
  `${row}.mode = 'test' AND EXISTS (SELECT FROM operations.test_clocks c WHERE c.account_id = ${row}.account_id)`;
const OVERDUE = pendingThat((row, at) => `${at} < $1 AND NOT (${hasClock(row)})`);
const OVERDUE_BY_CLOCK = pendingThat(
  (row, at) =>
    `${row}.account_id = c.account_id AND ${row}.mode = 'test' AND ${at} < $1 + c.offset_seconds * interval '1 s'`,
);
const pageAfter = (row: string): string =>
  `(${row}.next_attempt_at, ${row}.id) > ($2::timestamptz, $3) AND ${hasNoTimer(`${row}.id`)} ORDER BY ${row}.next_attempt_at, ${row}.id LIMIT $4`;
/** $1 instant, $2 and $3 the end of the previous page, $4 limit. */
const OVERDUE_PAGE = {
  name: 'overdue_deliveries',
  text: `SELECT next_attempt_at::text AS next_attempt_at, ${asTimestamp('next_attempt_at')} AS due_at, id, target, account_id, mode FROM (
      (SELECT p.* FROM ${OVERDUE} p WHERE ${pageAfter('p')})
      UNION ALL
      SELECT p.* FROM operations.test_clocks c CROSS JOIN LATERAL (SELECT q.* FROM ${OVERDUE_BY_CLOCK} q WHERE ${pageAfter('q')}) p
      WHERE NOT c.draining) AS d
    ORDER BY next_attempt_at, id LIMIT $4`,
};

export const deliveryReads = (db: Sql): DeliveryReads => ({
  // Yields pages of all deliveries without a timer whose attempt was due before `before`, by the clock of their account.
  overdue: (before, page) =>
    pagesOf(
      page,
      (last: OverdueRow | null) =>
        db.query<OverdueRow>({
          ...OVERDUE_PAGE,
          values: [before, last?.next_attempt_at ?? '-infinity', last?.id ?? '', page],
        }),
      (rows) =>
        rows.map(({ id: deliveryId, target, account_id: accountId, mode, due_at: dueAt }) => ({
          tenant: { accountId, mode },
          deliveryId,
          target,
          dueAt,
        })),
    ),
  // Counts unfinished deliveries that are due by `now` (account time) or in running jobs (`running`), and those held back.
  // An endpoint whose deliveries are being released counts as one that is due.
  countDue: async ({ accountId, mode }, now, running) => {
    const { rows } = await db.query<{ due: number; held: number }>(
      `SELECT (SELECT count(*) FROM ${DUE_OR_NAMED} p WHERE ${hasNoTimer('p.id')})
       + (SELECT count(*) FROM operations.delivery_turns t WHERE t.account_id = $1 AND t.mode = $2 AND t.due_at <= $3)
       + (SELECT count(*) FROM operations.fired_groups g WHERE g.kind = 'deliver' AND g.account_id = $1 AND g.mode = $2) AS due,
       (SELECT count(*) FROM operations.delivery_turns t WHERE t.account_id = $1 AND t.mode = $2 AND t.held AND t.due_at > $3) AS held`,
      [accountId, mode, now, running],
    );
    return rows[0] ?? { due: 0, held: 0 };
  },
  // Returns the earliest deliveries that are due by `until` or among `sent`, and have no timer.
  underWay: async ({ accountId, mode }, until, sent, limit) => {
    const { rows } = await db.query<{ id: string; target: string; due_at: Timestamp }>(
      `SELECT p.id, p.target, ${asTimestamp('p.next_attempt_at')} AS due_at FROM ${DUE_OR_NAMED} p WHERE ${hasNoTimer('p.id')}
     ORDER BY p.next_attempt_at LIMIT $5`,
      [accountId, mode, until, sent, limit],
    );
    return rows.map(({ id, target, due_at: dueAt }) => ({ id, target, dueAt }));
  },
});
