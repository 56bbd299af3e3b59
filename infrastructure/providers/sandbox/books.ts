// Queries of the sandbox bank's books.
import type { AcquirerFact, BookedPage, ReceivedPayment } from '../../../application/ports/paymentProvider.ts';
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
  const { rows } = await db.query<PaymentRow>({ name: 'sandbox_payments', text, values: [account, txid] });
  return rows.map(receivedOf);
};

interface BookedRow extends PaymentRow {
  readonly account_id: AccountId;
  readonly booked_ms: number;
  /** Time of the booking, with microseconds. */
  readonly booked: string;
}
const BOOKED = `SELECT account_id, booked_at::text AS booked, (extract(epoch FROM booked_at) * 1000)::bigint AS booked_ms, ${COLUMNS}
  FROM sandbox_bank.payments
  WHERE booked_at BETWEEN $1::timestamptz AND $2 AND (booked_at, account_id, provider_payment_id) > ($1::timestamptz, $3, $4)
  ORDER BY booked_at, account_id, provider_payment_id LIMIT $5`;
const BOOKED_PAGE = 1_000;

/** `after`: the place of the last payment of the page before, as JSON. */
export const bookedBetween = async (
  db: Sql,
  from: Timestamp,
  to: Timestamp,
  after: string | null,
): Promise<BookedPage> => {
  const [since, ...place]: readonly string[] = after === null ? [from, '', ''] : JSON.parse(after);
  const values = [since, to, ...place, BOOKED_PAGE];
  const { rows } = await db.query<BookedRow>({ name: 'sandbox_booked', text: BOOKED, values });
  const last = rows.at(-1);
  return {
    items: rows.map((row) => ({ ...receivedOf(row), accountId: row.account_id, bookedAt: fromMillis(row.booked_ms) })),
    next:
      last === undefined || rows.length < BOOKED_PAGE
        ? null
        : JSON.stringify([last.booked, last.account_id, last.provider_payment_id]),
  };
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
  const values = [account, txid, method];
  return (await db.query({ name: 'sandbox_is_cancelled', text, values })).rowCount === 1;
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
  const { rows } = await db.query<FactRow>({ name: 'sandbox_facts', text, values: [account, txid] });
  return rows.map(({ kind, method, reason, at_ms }) => ({ kind, method, reason, at: fromMillis(at_ms) }));
};
