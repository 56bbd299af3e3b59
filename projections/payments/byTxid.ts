// Whose txids these are. No index knows them, so that a charge costs none: what is looked for is nearly always of recent charges, and so
// the tenant's payments are looked through newest first, a slice at a time, until all are found.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { paymentOf } from './row.ts';

/** Payments a statement looks through: half a second, 2 s when none of them is in memory. A million that hold none take 10 to 40 s. */
const SLICE = 50_000;

interface Row {
  readonly id: PaymentId;
  /** null: the slice ends here. */
  readonly state: string | null;
  readonly created_at: string;
}

// The text is searched, because PostgreSQL refuses to read JSON that holds a NUL; what a merchant's metadata may call `txid`, too, is
// left out by the caller.
const TEXT = `WITH slice AS MATERIALIZED (
    SELECT id, created_at FROM rm_payments.listed
    WHERE account_id = $1 AND mode = $2 AND created_at <= $4 AND (created_at < $4 OR id > $5) ORDER BY created_at DESC, id LIMIT $6)
  SELECT p.id, p.state, s.created_at::text AS created_at FROM slice s JOIN rm_payments.payments p ON p.id = s.id
    WHERE EXISTS (SELECT FROM unnest((string_to_array(p.state, '"txid":"'))[2:]) AS rest WHERE split_part(rest, '"', 1) = ANY($3::text[]))
  UNION ALL (SELECT id, NULL, created_at::text FROM slice ORDER BY created_at, id DESC LIMIT 1)`;

/** The tenant's payments of these txids (letters and digits), by txid. */
export const findPaymentsByTxid = async (
  db: Sql,
  { accountId, mode }: Tenant,
  txids: readonly string[],
  slice = SLICE,
): Promise<ReadonlyMap<string, PaymentId>> => {
  const wanted = new Set(txids);
  const found = new Map<string, PaymentId>();
  for (let after: Pick<Row, 'created_at' | 'id'> | null = null; found.size < wanted.size; ) {
    const values: unknown[] = [
      accountId,
      mode,
      new TextArray(txids),
      after?.created_at ?? 'infinity',
      after?.id ?? '',
      slice,
    ];
    const { rows } = await db.query<Row>(TEXT, values);
    for (const { id, state } of rows) {
      const txid = state === null ? undefined : paymentOf(state).charge.terms.txid;
      if (txid !== undefined && wanted.has(txid)) found.set(txid, id);
    }
    after = rows.find(({ state }) => state === null) ?? null;
    if (after === null) break;
  }
  return found;
};
