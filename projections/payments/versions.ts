// Versions of the payments on open pages: the text changes with a payment, or with any of a tenant's newest payments.
import type { Watched, WatchedPayments } from '../../application/ports/readModels/payments.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { paymentOf, selectPayment } from './row.ts';

/** Payments that the overview shows. */
const RECENT = 8;

const RECENT_ROWS = (accountId: string, mode: string): string =>
  `SELECT p.* FROM rm_payments.payments p WHERE p.account_id = ${accountId} AND p.mode = ${mode} AND p.created_at IS NOT NULL
   ORDER BY p.created_at DESC, p.id LIMIT ${RECENT}`;
const ONE_ROW = (accountId: string, mode: string, id: string): string =>
  `SELECT p.* FROM rm_payments.payments p WHERE p.id = ${id} AND p.account_id = ${accountId} AND p.mode = ${mode} AND p.created_at IS NOT NULL`;

const VERSIONS = {
  name: 'payment_versions',
  text: `SELECT coalesce(md5(CASE WHEN w.id = ''
      THEN (SELECT string_agg(r.id || r.revision, ',' ORDER BY r.created_at DESC, r.id) FROM (${RECENT_ROWS('w.account_id', 'w.mode')}) r)
      ELSE (SELECT r.id || r.revision FROM (${ONE_ROW('w.account_id', 'w.mode', 'w.id')}) r) END), '') AS version
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS w(account_id, mode, id, n) ORDER BY w.n`,
};

/** Returns the version of each; an empty text if there is nothing to show. */
export const versionsOf = async (db: Sql, watched: readonly Watched[]): Promise<readonly string[]> => {
  const columns = [
    watched.map(({ tenant }) => tenant.accountId),
    watched.map(({ tenant }) => tenant.mode),
    watched.map(({ paymentId }) => paymentId ?? ''),
  ];
  const { rows } = await db.query<{ version: string }>({
    ...VERSIONS,
    values: columns.map((column) => new TextArray(column)),
  });
  return rows.map(({ version }) => version);
};

const select = (rows: string): string =>
  `SELECT md5(string_agg(r.id || r.revision, ',') OVER (ORDER BY r.created_at DESC, r.id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
     AS version, ${selectPayment('r')} FROM (${rows}) r ORDER BY r.created_at DESC, r.id`;
const SHOWN_RECENT = { name: 'show_recent_payments', text: select(RECENT_ROWS('$1', '$2')) };
const SHOWN_ONE = { name: 'show_payment', text: select(ONE_ROW('$1', '$2', '$3')) };

/** Returns the payments with their version. */
export const watchedPayments = async (db: Sql, { tenant, paymentId }: Watched): Promise<WatchedPayments> => {
  const { accountId, mode } = tenant;
  const { rows } = await db.query<ColumnValues & { readonly version: string }>(
    paymentId === null
      ? { ...SHOWN_RECENT, values: [accountId, mode] }
      : { ...SHOWN_ONE, values: [accountId, mode, paymentId] },
  );
  return { payments: rows.map(paymentOf), version: rows[0]?.version ?? '' };
};
