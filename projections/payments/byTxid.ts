// Whose txids these are: what a provider lists names a payment by its txid alone.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';

interface Row {
  readonly txid: string;
  readonly id: PaymentId;
}

// A row of `listed` for each txid, through its index, however many they are: a join would be planned as a scan of the table.
const TEXT = `SELECT wanted.txid, found.id FROM unnest($3::text[]) AS wanted(txid)
  CROSS JOIN LATERAL (
    SELECT id FROM rm_payments.listed l WHERE l.txid = wanted.txid AND l.account_id = $1 AND l.mode = $2 OFFSET 0
  ) found`;

/** Returns the tenant's payments of these txids, by txid; a txid that no payment has is left out. */
export const findPaymentsByTxid = async (
  db: Sql,
  { accountId, mode }: Tenant,
  txids: readonly string[],
): Promise<ReadonlyMap<string, PaymentId>> => {
  const { rows } = await db.query<Row>({
    name: 'find_payments_by_txid',
    text: TEXT,
    values: [accountId, mode, new TextArray(txids)],
  });
  return new Map(rows.map(({ txid, id }) => [txid, id]));
};
