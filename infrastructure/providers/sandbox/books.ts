// Queries of the sandbox bank's books.
import type { AcquirerFact, ReceivedPayment } from '../../../application/ports/paymentProvider.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis, type Timestamp } from '../../../domain/kernel/time.ts';

interface PaymentRow {
  txid: string;
  method: PaymentMethod;
  provider_payment_id: string;
  amount: number;
  payer_name: string | null;
  payer_document: string | null;
  paid_ms: number;
}
const COLUMNS =
  'txid, method, provider_payment_id, amount, payer_name, payer_document, (extract(epoch FROM paid_at) * 1000)::bigint AS paid_ms';
const receivedOf = (row: PaymentRow): ReceivedPayment => ({
  txid: row.txid,
  incoming: {
    method: row.method,
    providerPaymentId: row.provider_payment_id,
    amount: toMinor(row.amount),
    payer: { name: row.payer_name, document: row.payer_document },
    paidAt: fromMillis(row.paid_ms),
  },
  isPlain: true,
  returns: [],
});

export const paymentsOf = async (db: Sql, account: AccountId, txid: string): Promise<readonly ReceivedPayment[]> => {
  const text = `SELECT ${COLUMNS} FROM sandbox_bank.payments WHERE account_id = $1 AND txid = $2 ORDER BY paid_at, provider_payment_id`;
  return (await db.query<PaymentRow>(text, [account, txid])).rows.map(receivedOf);
};

export const paymentsBetween = async (db: Sql, account: AccountId, from: Timestamp, to: Timestamp) => {
  const text = `SELECT ${COLUMNS} FROM sandbox_bank.payments WHERE account_id = $1 AND paid_at BETWEEN $2 AND $3 ORDER BY paid_at, provider_payment_id`;
  const { rows } = await db.query<PaymentRow>(text, [account, from, to]);
  return rows.map(receivedOf);
};

export const findPayment = async (
  db: Sql,
  account: AccountId,
  providerPaymentId: string,
): Promise<ReceivedPayment | null> => {
  const text = `SELECT ${COLUMNS} FROM sandbox_bank.payments WHERE account_id = $1 AND provider_payment_id = $2`;
  const { rows } = await db.query<PaymentRow>({
    name: 'sandbox_find_payment',
    text,
    values: [account, providerPaymentId],
  });
  return rows[0] ? receivedOf(rows[0]) : null;
};

export const isCancelled = async (
  db: Sql,
  account: AccountId,
  txid: string,
  method: PaymentMethod,
): Promise<boolean> => {
  const text = 'SELECT FROM sandbox_bank.instruments WHERE account_id = $1 AND txid = $2 AND method = $3 AND cancelled';
  return (await db.query(text, [account, txid, method])).rowCount === 1;
};

interface FactRow {
  kind: AcquirerFact['kind'];
  method: PaymentMethod;
  reason: string | null;
  at_ms: number;
}
export const factsOf = async (db: Sql, account: AccountId, txid: string): Promise<readonly AcquirerFact[]> => {
  const text = `SELECT kind, method, reason, (extract(epoch FROM at) * 1000)::bigint AS at_ms FROM sandbox_bank.facts
    WHERE account_id = $1 AND txid = $2 ORDER BY number`;
  const { rows } = await db.query<FactRow>(text, [account, txid]);
  return rows.map(({ kind, method, reason, at_ms }) => ({ kind, method, reason, at: fromMillis(at_ms) }));
};
