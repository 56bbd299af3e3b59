// Provider notifications in Postgres, stored with the job that settles them in one durable transaction.
import type { JobQueue } from '../../application/ports/jobs.ts';
import type { PixNotification, PixNotifications } from '../../application/ports/pixNotifications.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';

const idOf = ({ tenant, endToEndId }: PixNotification): string => `${tenant.accountId}/${tenant.mode}/${endToEndId}`;
const KEY = 'account_id = $1 AND mode = $2 AND end_to_end_id = $3';

export const pixNotifications = (db: SqlPool, jobs: JobQueue): PixNotifications => ({
  store: async (notification, raw, outer) => {
    const { tenant, endToEndId, paymentId } = notification;
    const write = async (tx: Sql) => {
      const { rowCount } = await tx.query(
        `INSERT INTO operations.pix_notifications (account_id, mode, end_to_end_id, payment_id, raw) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
        [tenant.accountId, tenant.mode, endToEndId, paymentId, raw],
      );
      if (rowCount === 1) await jobs.enqueue([{ queue: 'settle', item: idOf(notification) }], tx);
      return rowCount === 1;
    };
    if (outer) return write(outer);
    const isNew = await db.transaction(write);
    jobs.wake(['settle']);
    return isNew;
  },
  find: async (id) => {
    const [accountId, mode, endToEndId] = id.split('/');
    const { rows } = await db.query<{ payment_id: PaymentId }>(
      `SELECT payment_id FROM operations.pix_notifications WHERE ${KEY}`,
      [accountId, mode, endToEndId],
    );
    const tenant = { accountId: accountId as AccountId, mode: mode as Mode };
    return rows[0] ? { tenant, endToEndId: endToEndId as string, paymentId: rows[0].payment_id } : null;
  },
  markHandled: async (id, outcome) => {
    const text = `UPDATE operations.pix_notifications SET handled_at = now(), outcome = $4 WHERE ${KEY}`;
    await db.query(text, [...id.split('/'), outcome]);
  },
  unhandled: async (olderThanMs, limit) => {
    const { rows } = await db.query<{ id: string }>(
      `SELECT account_id || '/' || mode || '/' || end_to_end_id AS id FROM operations.pix_notifications
       WHERE handled_at IS NULL AND received_at < now() - $1 * interval '1 millisecond' ORDER BY received_at LIMIT $2`,
      [olderThanMs, limit],
    );
    return rows.map(({ id }) => id);
  },
});
