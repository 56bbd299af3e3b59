// The deliveries of one payment, for its story. No index has the payment, so all deliveries of its account are read.
import type { DeliveriesOfPayment, TracedDelivery } from '../../application/ports/paymentTraces.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';

const columnsOf = (table: string): string =>
  `${table}.id, ${table}.event_type AS "eventType", nullif(${table}.endpoint_id, '') AS "endpointId",
   ${asTimestamp(`${table}.scheduled_at`)} AS "scheduledAt"`;
const isOfPayment = (table: string): string =>
  `${table}.account_id = $1 AND ${table}.mode = $2 AND ${table}.payment_id = $3`;

const DELIVERIES = `
  SELECT ${columnsOf('d')} FROM rm_webhook_deliveries.deliveries d WHERE ${isOfPayment('d')}
  UNION
  SELECT ${columnsOf('w')} FROM operations.waiting_deliveries w WHERE ${isOfPayment('w')}
  ORDER BY "scheduledAt", id`;

export const deliveriesOfPayment =
  (db: Sql): DeliveriesOfPayment =>
  async ({ accountId, mode }, id) =>
    (await db.query<TracedDelivery>(DELIVERIES, [accountId, mode, id])).rows;
