// Provider notifications in Postgres, stored with the job that settles them in one durable transaction.
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { ProviderNotification, ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';

const idOf = ({ tenant, reference }: ProviderNotification): string => `${tenant.accountId}/${tenant.mode}/${reference}`;
/** An acquirer's reference may hold the mark that stands between the parts. */
const keyOf = (id: string): readonly [AccountId, Mode, string] => {
  const [accountId, mode, ...reference] = id.split('/');
  return [accountId as AccountId, mode as Mode, reference.join('/')];
};
const KEY = 'account_id = $1 AND mode = $2 AND reference = $3';

export const providerNotifications = (db: SqlPool, jobs: JobQueue): ProviderNotifications => ({
  store: async (notification, raw, outer) => {
    const { tenant, kind, reference, paymentId } = notification;
    const write = async (tx: Sql) => {
      const { rowCount } = await tx.query(
        `INSERT INTO operations.provider_notifications AS n (account_id, mode, reference, kind, payment_id, raw)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, mode, reference) DO UPDATE
         SET kind = excluded.kind, payment_id = excluded.payment_id, raw = excluded.raw, received_at = now(),
           handled_at = NULL, outcome = NULL
         WHERE n.outcome = 'not_confirmed'`,
        [tenant.accountId, tenant.mode, reference, kind, paymentId, raw],
      );
      if (rowCount === 1) await jobs.enqueue([{ queue: 'settle', tenant, item: idOf(notification) }], tx);
      return rowCount === 1;
    };
    if (outer) return write(outer);
    const isNew = await db.transaction(write);
    jobs.wake([{ queue: 'settle', tenant: notification.tenant }]);
    return isNew;
  },
  untold: async ({ accountId, mode }, references) => {
    const { rows } = await db.query<{ reference: string }>(
      `SELECT r.reference FROM unnest($3::text[]) AS r(reference) WHERE NOT EXISTS (SELECT FROM operations.provider_notifications n
         WHERE n.account_id = $1 AND n.mode = $2 AND n.reference = r.reference AND n.outcome IS DISTINCT FROM 'not_confirmed')`,
      [accountId, mode, new TextArray(references)],
    );
    return new Set(rows.map(({ reference }) => reference));
  },
  find: async (id) => {
    const [accountId, mode, reference] = keyOf(id);
    const { rows } = await db.query<{ kind: ProviderNotification['kind']; payment_id: PaymentId }>(
      `SELECT kind, payment_id FROM operations.provider_notifications WHERE ${KEY}`,
      [accountId, mode, reference],
    );
    const row = rows[0];
    return row ? { tenant: { accountId, mode }, kind: row.kind, reference, paymentId: row.payment_id } : null;
  },
  markHandled: async (id, outcome) => {
    const text = `UPDATE operations.provider_notifications SET handled_at = now(), outcome = $4 WHERE ${KEY}`;
    await db.query(text, [...keyOf(id), outcome]);
  },
  unhandled: (olderThanMs, page) => unhandled(db, olderThanMs, page),
});

interface UnhandledRow {
  readonly received_at: string;
  readonly id: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

async function* unhandled(db: Sql, olderThanMs: number, page: number): AsyncGenerator<readonly JobRequest[]> {
  for (let after = { received_at: '-infinity', id: '' }; ; ) {
    const { rows } = await db.query<UnhandledRow>(
      `SELECT received_at::text AS received_at, id, account_id, mode FROM (
         SELECT *, account_id || '/' || mode || '/' || reference AS id FROM operations.provider_notifications
         WHERE handled_at IS NULL AND received_at < now() - $1 * interval '1 millisecond' AND received_at >= $2::timestamptz) AS n
       WHERE (received_at, id) > ($2::timestamptz, $3) ORDER BY received_at, id LIMIT $4`,
      [olderThanMs, after.received_at, after.id, page],
    );
    yield rows.map(({ id, account_id: accountId, mode }) => ({
      queue: 'settle',
      tenant: { accountId, mode },
      item: id,
    }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last;
  }
}
