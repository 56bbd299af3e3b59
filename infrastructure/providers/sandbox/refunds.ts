// Refunds in the sandbox bank's books: accepted at once, decided at the first status query or by the sandbox routes (X3).
import { createHash } from 'node:crypto';
import type { Known } from '../../../application/ports/paymentProvider.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type { AccountId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { makeEndToEndId, makeReturnId } from '../../../domain/pix/ids.ts';
import { SANDBOX_ISPB } from '../../../domain/pix/sandboxPeople.ts';
import type { RefundOrder, RefundOutcome } from '../../../domain/refund/refund.ts';

type KnownOutcome = Exclude<RefundOutcome, { kind: 'unknown' }>;

/** Accepts a refund, or refuses it for the reason `refusal`. If it is already booked, returns its current outcome. */
export const takeRefund = async (
  db: Sql,
  order: RefundOrder,
  refusal: string | null = null,
): Promise<RefundOutcome> => {
  const { accountId, refundId, providerPaymentId, strategy, destination, amount } = order;
  await db.query(
    `INSERT INTO sandbox_bank.refunds (account_id, refund_id, provider_payment_id, strategy, destination, amount, reason, status)
     VALUES ($1, $2, $3, $4, $5, $6, $7::text, CASE WHEN $7::text IS NULL THEN 'processing' ELSE 'refused' END) ON CONFLICT DO NOTHING`,
    [accountId, refundId, providerPaymentId, strategy, destination, amount, refusal],
  );
  return (await readRefund(db, order)) ?? { kind: 'unknown' };
};

/** Returns a refund's outcome. `decidedAt`: a refund in processing is paid at this time; null: it stays in processing. */
export const findRefund = async (
  db: Sql,
  order: RefundOrder,
  decidedAt: Timestamp | null,
): Promise<Known<KnownOutcome | null>> => {
  if (decidedAt !== null) await decideRefund(db, order, null, decidedAt);
  return { kind: 'known', value: await readRefund(db, order) };
};

/** Decides a refund; `failure` null confirms it. Returns false if it is unknown or already decided. `late` also decides refused ones. */
export const decideRefund = async (
  db: Sql,
  { accountId, refundId }: Pick<RefundOrder, 'accountId' | 'refundId'>,
  failure: string | null,
  at: Timestamp,
  late = false,
): Promise<boolean> => {
  const { payment, back } = networkIdsOf(refundId, at);
  const { rowCount } = await db.query(
    `UPDATE sandbox_bank.refunds SET status = CASE WHEN $3::text IS NULL THEN 'confirmed' ELSE 'refused' END, reason = $3,
       end_to_end_id = CASE WHEN $3::text IS NULL THEN CASE strategy WHEN 'cashout' THEN $4 WHEN 'devolution' THEN $5 END END
     WHERE account_id = $1 AND refund_id = $2 AND (status = 'processing' OR ($6 AND status = 'refused'))`,
    [accountId, refundId, failure, payment, back, late],
  );
  return rowCount === 1;
};

/** Returns the decision on a refund, or null if it is in processing or unknown. */
export const decidedStatus = async (
  db: Sql,
  account: AccountId,
  refundId: string,
): Promise<'confirmed' | 'refused' | null> => {
  const text = `SELECT status FROM sandbox_bank.refunds WHERE account_id = $1 AND refund_id = $2 AND status <> 'processing'`;
  return (await db.query<{ status: 'confirmed' | 'refused' }>(text, [account, refundId])).rows[0]?.status ?? null;
};

/** A row of outgoing money in the books. */
export interface OutgoingRow {
  readonly status: 'processing' | 'confirmed' | 'refused';
  readonly reason: string | null;
  readonly end_to_end_id: string | null;
}
export const outcomeOf = ({ status, reason, end_to_end_id: endToEndId }: OutgoingRow): KnownOutcome => {
  if (status === 'confirmed') return { kind: 'confirmed', endToEndId };
  return status === 'refused' ? { kind: 'refused', reason: reason ?? 'refused' } : { kind: 'processing' };
};

const readRefund = async (db: Sql, { accountId, refundId }: RefundOrder): Promise<KnownOutcome | null> => {
  const text =
    'SELECT status, reason, end_to_end_id FROM sandbox_bank.refunds WHERE account_id = $1 AND refund_id = $2';
  const row = (await db.query<OutgoingRow>(text, [accountId, refundId])).rows[0];
  return row === undefined ? null : outcomeOf(row);
};

/** Returns the network's ids of outgoing money: a Pix-out is a payment, a devolution a return (pix.md, Ids). Card reversals have none. */
export const networkIdsOf = (id: string, at: Timestamp) => {
  const suffix = createHash('sha256').update(id).digest('hex').slice(0, 11);
  const parts = { ispb: SANDBOX_ISPB, at, suffix };
  return { payment: makeEndToEndId(parts), back: makeReturnId(parts) };
};
