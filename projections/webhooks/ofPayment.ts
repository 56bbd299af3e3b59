// The deliveries of one payment, for its story. The lists' indexes find them by their times, so that none is needed for payments.
import type { DeliveriesOfPayment, TracedDelivery } from '../../application/ports/paymentTraces.ts';
import { asTimestamp, type Sql, TextArray } from '../../application/ports/sql.ts';
import { isOfTenant } from './projection.ts';

const columnsOf = (table: string): string =>
  `${table}.id, ${table}.event_type AS "eventType", nullif(${table}.endpoint_id, '') AS "endpointId",
   ${asTimestamp(`${table}.scheduled_at`)} AS "scheduledAt"`;
const isOfPayment = (table: string): string =>
  `${table}.scheduled_at = ANY($4::text[]::timestamptz[]) AND ${table}.payment_id = $3`;

const DELIVERIES = {
  name: 'deliveries_of_payment',
  text: `
  SELECT DISTINCT ON ("scheduledAt", id) * FROM (
    SELECT ${columnsOf('d')}, d.status, d.attempts, d.last_status_code AS "lastStatusCode", 1 AS rank FROM rm_webhook_deliveries.deliveries d
    WHERE ${isOfTenant('d', '$1::text', '$2::text')} AND ${isOfPayment('d')}
    UNION ALL
    SELECT ${columnsOf('w')}, 'PENDING', 0, NULL, 2 FROM operations.waiting_deliveries w
    WHERE w.account_id = $1 AND w.mode = $2 AND ${isOfPayment('w')}) a
  ORDER BY "scheduledAt", id, rank`,
};

export const deliveriesOfPayment =
  (db: Sql): DeliveriesOfPayment =>
  async ({ accountId, mode }, id, at) =>
    (await db.query<TracedDelivery>({ ...DELIVERIES, values: [accountId, mode, id, new TextArray(at)] })).rows;
