// Reads of webhook deliveries, always of one account and mode.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { EndpointId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { DeliveryStatus, ExistingDelivery } from '../../domain/wire/delivery.ts';

export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
  readonly endpointId?: EndpointId;
  /** 1 to 100. */
  readonly limit: number;
  readonly offset: number;
}

/** Newest first, then by id. `total` counts all that match. */
export const listDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  filter: DeliveryFilter,
): Promise<{ deliveries: readonly ExistingDelivery[]; total: number }> => {
  const values: unknown[] = [accountId, mode];
  const conditions = [
    ['status', filter.status],
    ['event_type', filter.eventType],
    ['endpoint_id', filter.endpointId],
  ].flatMap(([column, value]) => (value === undefined ? [] : [` AND ${column} = $${values.push(value)}`]));
  const from = `FROM rm_webhook_deliveries.deliveries WHERE account_id = $1 AND mode = $2${conditions.join('')}`;
  const counted = await db.query<{ total: number }>(`SELECT count(*) AS total ${from}`, values);
  const page = `ORDER BY created_at DESC, id LIMIT $${values.push(filter.limit)} OFFSET $${values.push(filter.offset)}`;
  const { rows } = await db.query<{ state: string }>(`SELECT state ${from} ${page}`, values);
  return {
    deliveries: rows.map(({ state }) => JSON.parse(state) as ExistingDelivery),
    total: counted.rows[0]?.total ?? 0,
  };
};

/**
 * Deliveries that should have been attempted by `now` (account time), are not at their end, and are not waiting for a timer that
 * is due later than `timersAfter`.
 */
export const countDueDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  now: Timestamp,
  timersAfter: Timestamp | '-infinity',
): Promise<number> => {
  const { rows } = await db.query<{ due: number }>(
    `SELECT count(*) AS due FROM rm_webhook_deliveries.deliveries d
     WHERE account_id = $1 AND mode = $2 AND next_attempt_at <= $3
       AND NOT EXISTS (SELECT FROM operations.timers t WHERE t.kind = 'deliver' AND t.key = d.id AND t.due_at > $4)`,
    [accountId, mode, now, timersAfter],
  );
  return rows[0]?.due ?? 0;
};

/** Deliveries of all accounts that should have been attempted before `before` and wait for no timer. */
export const overdueDeliveries = async (
  db: Sql,
  before: Timestamp,
  limit: number,
): Promise<readonly { id: string; target: string }[]> => {
  const { rows } = await db.query<{ id: string; target: string }>(
    `SELECT id, target FROM rm_webhook_deliveries.deliveries d WHERE next_attempt_at < $1
       AND NOT EXISTS (SELECT FROM operations.timers t WHERE t.kind = 'deliver' AND t.key = d.id) ORDER BY next_attempt_at LIMIT $2`,
    [before, limit],
  );
  return rows;
};
