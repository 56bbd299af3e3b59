// Provider notifications in PostgreSQL, stored in one durable transaction with the job that handles them.

import type { JobQueue } from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type {
  NotificationKey,
  NotifiedWork,
  ProviderNotification,
  ProviderNotifications,
} from '../../application/ports/providerNotifications.ts';
import { type Sql, type SqlPool, type SqlTransaction, TextArray } from '../../application/ports/sql.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';

const KEY = 'account_id = $1 AND mode = $2 AND reference = $3';
const valuesOf = ({ tenant: { accountId, mode }, reference }: NotificationKey) => [accountId, mode, reference] as const;

export const providerNotifications = (db: SqlPool, jobs: JobQueue, work: NotifiedWork): ProviderNotifications => ({
  store: (notification, outer) => {
    const { tenant, kind, reference, paymentId } = notification;
    const write = async (tx: SqlTransaction) => {
      const { rowCount } = await tx.query({
        name: 'store_notification',
        text: `INSERT INTO operations.provider_notifications AS n (account_id, mode, reference, kind, payment_id)
          VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id, mode, reference) DO UPDATE
          SET kind = excluded.kind, payment_id = excluded.payment_id, received_at = now(),
            handled_at = NULL, outcome = NULL
          WHERE n.outcome = 'not_confirmed'`,
        values: [tenant.accountId, tenant.mode, reference, kind, paymentId],
      });
      if (rowCount === 1) await jobs.enqueue([work.handling(notification)], tx);
      return rowCount === 1;
    };
    return outer === undefined ? db.transaction(write) : write(outer);
  },
  unreported: async (keys) => {
    if (keys.length === 0) return [];
    const { rows } = await db.query<{ unreported: boolean }>({
      name: 'unreported_notifications',
      text: `SELECT NOT EXISTS (SELECT FROM operations.provider_notifications n WHERE n.account_id = k.account_id AND n.mode = k.mode
          AND n.reference = k.reference AND n.outcome IS DISTINCT FROM 'not_confirmed') AS unreported
        FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS k (account_id, mode, reference, number) ORDER BY k.number`,
      values: [
        new TextArray(keys.map(({ tenant }) => tenant.accountId)),
        new TextArray(keys.map(({ tenant }) => tenant.mode)),
        new TextArray(keys.map(({ reference }) => reference)),
      ],
    });
    return rows.map(({ unreported }) => unreported);
  },
  startJob: (tenant, kind, payload, tx) => jobs.enqueue([{ queue: work.queueOf(kind), tenant, payload }], tx),
  find: async (key) => {
    const { rows } = await db.query<{ kind: ProviderNotification['kind']; payment_id: PaymentId }>({
      name: 'find_notification',
      text: `SELECT kind, payment_id FROM operations.provider_notifications WHERE ${KEY}`,
      values: valuesOf(key),
    });
    const row = rows[0];
    return row ? { ...key, kind: row.kind, paymentId: row.payment_id } : null;
  },
  markHandled: async (key, outcome) => {
    await db.query({
      name: 'mark_notification',
      text: `UPDATE operations.provider_notifications SET handled_at = now(), outcome = $4 WHERE ${KEY}`,
      values: [...valuesOf(key), outcome],
    });
  },
  unhandled: (ageMs, page) => unhandled(db, ageMs, page),
});

interface UnhandledRow {
  readonly received_at: string;
  readonly account_id: AccountId | '';
  readonly mode: Mode | '';
  readonly reference: string;
}
const BEFORE_ALL: UnhandledRow = { received_at: '-infinity', account_id: '', mode: '', reference: '' };
const UNHANDLED_PAGE = `SELECT received_at::text AS received_at, account_id, mode, reference FROM operations.provider_notifications
  WHERE handled_at IS NULL AND received_at < now() - $1 * interval '1 ms' AND received_at >= $2::timestamptz
    AND (received_at, account_id, mode, reference) > ($2::timestamptz, $3, $4, $5)
  ORDER BY received_at, account_id, mode, reference LIMIT $6`;

const unhandled = (db: Sql, ageMs: number, page: number): AsyncGenerator<readonly NotificationKey[]> =>
  pagesOf(
    page,
    (last: UnhandledRow | null) => {
      const after = last ?? BEFORE_ALL;
      const values = [ageMs, after.received_at, after.account_id, after.mode, after.reference, page];
      return db.query<UnhandledRow>(UNHANDLED_PAGE, values);
    },
    (rows) =>
      rows.map(({ account_id, mode, reference }) => ({
        tenant: { accountId: account_id as AccountId, mode: mode as Mode },
        reference,
      })),
  );
