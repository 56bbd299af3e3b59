// Finds deliveries and notifications of one payment, for its story. No index has the payment, so all rows of its account are read.
import type { PaymentTraces, TracedDelivery, TracedNotification } from '../../application/ports/paymentTraces.ts';
import type { SqlPool } from '../../application/ports/sql.ts';

const iso = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const DELIVERIES = `
  SELECT d.id, d.event_type AS "eventType", nullif(d.endpoint_id, '') AS "endpointId", ${iso('d.scheduled_at')} AS "scheduledAt"
    FROM rm_webhook_deliveries.deliveries d WHERE d.account_id = $1 AND d.mode = $2 AND d.payment_id = $3
  UNION
  SELECT w.id, w.event_type, nullif(w.endpoint_id, ''), ${iso('w.scheduled_at')}
    FROM operations.waiting_deliveries w WHERE w.account_id = $1 AND w.mode = $2 AND w.payment_id = $3
  ORDER BY "scheduledAt", id`;

const NOTIFICATIONS = `
  SELECT kind, reference, ${iso('received_at')} AS "receivedAt", outcome
  FROM operations.provider_notifications WHERE account_id = $1 AND mode = $2 AND payment_id = $3 ORDER BY received_at, reference`;

export const paymentTraces = (db: SqlPool): PaymentTraces => ({
  deliveries: async ({ accountId, mode }, id) =>
    (await db.query<TracedDelivery>(DELIVERIES, [accountId, mode, id])).rows,
  notifications: async ({ accountId, mode }, id) =>
    (await db.query<TracedNotification>(NOTIFICATIONS, [accountId, mode, id])).rows,
});
