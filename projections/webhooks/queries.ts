// Reads of webhook endpoints and deliveries, always of one account and mode, but for the watchdog.

import { DELIVERY_QUEUE } from '../../application/ports/failingTargets.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { OverdueDelivery } from '../../application/ports/readModels/overdueWork.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import type {
  ActiveEndpoint,
  DeliveryFilter,
  DeliveryViews,
  EndpointViews,
  ListedDelivery,
} from '../../application/ports/readModels/views.ts';
import type { DeliveryReads, MessageUnderWay } from '../../application/ports/readModels/webhookDeliveries.ts';
import type { EndpointReads } from '../../application/ports/readModels/webhookEndpoints.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, DeliveryId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { DeliveryStatus, ExistingDelivery } from '../../domain/presentation/delivery.ts';

/** Oldest first. */
export const listEndpoints = async (db: Sql, { accountId, mode }: Tenant): Promise<readonly ActiveEndpoint[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT state FROM rm_webhook_endpoints.endpoints WHERE account_id = $1 AND mode = $2 AND status = 'active' ORDER BY created_at, id`,
    [accountId, mode],
  );
  return rows.map(({ state }) => JSON.parse(state) as ActiveEndpoint);
};

/** Twice the worst case of a read model: beyond it the count could miss one, and the request is refused instead. */
const COUNTED_MS = 2_000;

export const endpointReads = (db: Sql, caughtUp: CaughtUp): EndpointReads => ({
  count: async (tenant) => {
    if (!(await caughtUp('webhookEndpoints', COUNTED_MS)).isCaughtUp)
      throw new ReadModelsBehind('the endpoints could not be counted');
    return (await listEndpoints(db, tenant)).length;
  },
  subscriptions: async (tenant) => (await listEndpoints(db, tenant)).map(({ events }) => events),
});
export const endpointViews = (db: Sql): EndpointViews => ({ list: (tenant) => listEndpoints(db, tenant) });

// --- Deliveries ---

/** Begun, and what came of it is not known yet: of the jobs that run now, and no timer of it is set. $1: what is in those jobs. */
const UNDER_WAY = `(d.status = 'PENDING' AND d.id = ANY($1::text[])
  AND NOT EXISTS (SELECT FROM operations.timers u WHERE u.kind = '${DELIVERY_QUEUE}' AND u.key = d.id))`;

const isOfStatus = (status: DeliveryStatus, add: (value: unknown) => string): string => {
  if (status === 'PROCESSING') return UNDER_WAY;
  return `d.status = ${add(status)}${status === 'PENDING' ? ` AND NOT ${UNDER_WAY}` : ''}`;
};

/** Newest first, then by id. `total` counts all that match. `running`: the ids in the jobs that run now. */
export const listDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  filter: DeliveryFilter,
  running: readonly string[],
): Promise<{ deliveries: readonly ListedDelivery[]; total: number }> => {
  const values: unknown[] = [running, accountId, mode];
  const add = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['d.account_id = $2 AND d.mode = $3', '$1::text[] IS NOT NULL'];
  if (filter.status !== undefined) conditions.push(isOfStatus(filter.status, add));
  if (filter.eventType !== undefined) conditions.push(`d.event_type = ${add(filter.eventType)}`);
  if (filter.endpointId !== undefined) conditions.push(`d.endpoint_id = ${add(filter.endpointId)}`);
  const from = `FROM rm_webhook_deliveries.deliveries d WHERE ${conditions.join(' AND ')}`;
  const counted = await db.query<{ total: number }>(`SELECT count(*) AS total ${from}`, values);
  const page = `ORDER BY d.created_at DESC, d.id LIMIT ${add(filter.limit)} OFFSET ${add(filter.offset)}`;
  type Row = { state: string; is_under_way: boolean; due_ms: number | null };
  // What is held back goes when the next probe of its target succeeds, whichever that is.
  const { rows } = await db.query<Row>(
    `SELECT d.state, ${UNDER_WAY} AS is_under_way, (extract(epoch FROM (
       SELECT CASE WHEN t.held THEN (SELECT min(n.due_at) FROM operations.timers n WHERE n.group_id = t.group_id) ELSE t.due_at END
       FROM operations.timers t WHERE t.kind = '${DELIVERY_QUEUE}' AND t.key = d.id)) * 1000)::bigint AS due_ms
     FROM (SELECT d.* ${from} ${page}) d ORDER BY d.created_at DESC, d.id`,
    values,
  );
  return {
    deliveries: rows.map(({ state, is_under_way: isUnderWay, due_ms: dueMs }) => ({
      state: JSON.parse(state) as ExistingDelivery,
      now: { isUnderWay, dueAt: dueMs === null ? null : fromMillis(dueMs) },
    })),
    total: counted.rows[0]?.total ?? 0,
  };
};

export const deliveryViews = (db: Sql): DeliveryViews => ({
  list: (tenant, filter, running) => listDeliveries(db, tenant, filter, running),
});

/**
 * Deliveries of a tenant that should have been attempted by `now` (account time), or are in the jobs that run now (`running`), and are
 * not at their end; and those held back.
 */
const countDueDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  now: Timestamp,
  running: readonly string[],
): Promise<{ due: number; held: number }> => {
  const { rows } = await db.query<{ due: number; held: number }>(
    `SELECT (SELECT count(*) FROM rm_webhook_deliveries.deliveries d WHERE d.account_id = $1 AND d.mode = $2
         AND d.next_attempt_at IS NOT NULL AND (d.next_attempt_at <= $3 OR d.id = ANY($4::text[]))
         AND NOT EXISTS (SELECT FROM operations.timers t WHERE t.kind = '${DELIVERY_QUEUE}' AND t.key = d.id))
       + (SELECT count(*) FROM operations.timers t WHERE t.account_id = $1 AND t.mode = $2 AND t.kind = '${DELIVERY_QUEUE}' AND t.due_at <= $3) AS due,
       (SELECT count(*) FROM operations.timers t WHERE t.account_id = $1 AND t.mode = $2 AND t.held AND t.due_at > $3) AS held`,
    [accountId, mode, now, running],
  );
  return rows[0] ?? { due: 0, held: 0 };
};

/** Deliveries of a tenant that are due by `until`, or among `sent`, and wait for no timer: the earliest of them. */
const deliveriesUnderWay = async (
  db: Sql,
  { accountId, mode }: Tenant,
  until: Timestamp,
  sent: readonly string[],
  limit: number,
): Promise<readonly MessageUnderWay[]> => {
  const { rows } = await db.query<{ id: string; target: string; due_ms: number }>(
    `SELECT d.id, d.target, (extract(epoch FROM d.next_attempt_at) * 1000)::bigint AS due_ms FROM rm_webhook_deliveries.deliveries d
     WHERE d.account_id = $1 AND d.mode = $2 AND d.next_attempt_at IS NOT NULL AND (d.next_attempt_at <= $3 OR d.id = ANY($4::text[]))
       AND NOT EXISTS (SELECT FROM operations.timers t WHERE t.kind = '${DELIVERY_QUEUE}' AND t.key = d.id)
     ORDER BY d.next_attempt_at LIMIT $5`,
    [accountId, mode, until, sent, limit],
  );
  return rows.map(({ id, target, due_ms: dueMs }) => ({ id, target, dueAt: fromMillis(dueMs) }));
};

interface OverdueRow {
  readonly next_attempt_at: string;
  readonly id: DeliveryId;
  readonly target: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

// In account time, as with payments: an account whose test clock is ahead has its own.
const OVERDUE_PAGE = {
  name: 'overdue_deliveries',
  text: `SELECT next_attempt_at::text AS next_attempt_at, id, target, account_id, mode FROM (
      SELECT d.* FROM rm_webhook_deliveries.deliveries d
      WHERE d.next_attempt_at < $1 AND NOT (d.mode = 'test' AND EXISTS (SELECT FROM operations.test_clocks c WHERE c.account_id = d.account_id))
      UNION ALL
      SELECT d.* FROM operations.test_clocks c
      JOIN rm_webhook_deliveries.deliveries d ON d.account_id = c.account_id AND d.mode = 'test'
        AND d.next_attempt_at < $1 + c.offset_seconds * interval '1 s'
      WHERE NOT c.draining) AS d
    WHERE (next_attempt_at, id) > ($2::timestamptz, $3)
      AND NOT EXISTS (SELECT FROM operations.timers t WHERE t.kind = '${DELIVERY_QUEUE}' AND t.key = d.id)
    ORDER BY next_attempt_at, id LIMIT $4`,
};

/** Deliveries that should have been attempted before `before`, by the clock of their account, and wait for no timer; all, in pages. */
export async function* overdueDeliveries(
  db: Sql,
  before: Timestamp,
  page: number,
): AsyncGenerator<readonly OverdueDelivery[]> {
  for (let after = { next_attempt_at: '-infinity', id: '' }; ; ) {
    const { rows } = await db.query<OverdueRow>({
      ...OVERDUE_PAGE,
      values: [before, after.next_attempt_at, after.id, page],
    });
    yield rows.map(({ id: deliveryId, target, account_id: accountId, mode }) => ({
      tenant: { accountId, mode },
      deliveryId,
      target,
    }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last;
  }
}

export const deliveryReads = (db: Sql): DeliveryReads => ({
  countDue: (tenant, now, running) => countDueDeliveries(db, tenant, now, running),
  underWay: (tenant, until, sent, limit) => deliveriesUnderWay(db, tenant, until, sent, limit),
});
