// The provider's reports about one payment, for its story. No index has the payment, so all reports to its account are read.
import type { NotificationsOfPayment, TracedNotification } from '../../application/ports/paymentTraces.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';

const NOTIFICATIONS = `
  SELECT kind, reference, outcome,
    ${asTimestamp('received_at')} AS "receivedAt"
  FROM operations.provider_notifications
  WHERE account_id = $1 AND mode = $2 AND payment_id = $3 ORDER BY received_at, reference`;

export const notificationsOfPayment =
  (db: Sql): NotificationsOfPayment =>
  async ({ accountId, mode }, id) =>
    (await db.query<TracedNotification>(NOTIFICATIONS, [accountId, mode, id])).rows;
