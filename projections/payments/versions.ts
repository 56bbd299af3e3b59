// Versions of what open pages show: the text changes when a payment changes, or one of a tenant's newest payments.
import type { Watched } from '../../application/ports/readModels/payments.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';

/** Payments that the overview shows. */
export const RECENT = 8;

const VERSIONS = {
  name: 'payment_versions',
  text: `SELECT coalesce(md5(CASE WHEN w.id = '' THEN (
      SELECT string_agg(p.id || p.revision, ',' ORDER BY p.created_at, p.id) FROM (
        SELECT id, revision, created_at FROM rm_payments.payments
        WHERE account_id = w.account_id AND mode = w.mode AND created_at IS NOT NULL ORDER BY created_at DESC, id LIMIT ${RECENT}) p)
    ELSE (SELECT p.revision::text FROM rm_payments.payments p WHERE p.id = w.id AND p.account_id = w.account_id AND p.mode = w.mode) END), '') AS version
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
