// Payers and acquirers of the sandbox. Their actions are booked, and the gateway is notified, in one transaction, so that no notification
// is lost.

import type { AcquirerFact } from '../../../application/ports/paymentProvider.ts';
import type { ProviderNotifications } from '../../../application/ports/providerNotifications.ts';
import type { PayResult, SandboxBankPort } from '../../../application/ports/sandboxBank.ts';
import type { Sql, SqlPool, SqlTransaction } from '../../../application/ports/sql.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { isCancelled, paymentsOf } from './books.ts';
import { lockForPaying } from './cancel.ts';
import { bookCase, bookRuling, caseReference, casesOutOfTurn, findCase, releaseTurn } from './cases.ts';
import { lockUntilEnd } from './lock.ts';
import { decidedStatus, decideRefund } from './refunds.ts';

/**
 * Maximum of payments of one instrument. Real banks take one payment for a code. Every payment after the first is returned, with events in
 * its stream.
 */
const PAYMENTS_MAX = 100;

/** Undoes the transaction, with its notification: the payment was booked for another instrument. */
class BookedBefore extends Error {}

export const sandboxPayer = (db: SqlPool, notifications: ProviderNotifications): SandboxBankPort => ({
  pay: async (tenant, paymentId, txid, incoming, force) => {
    const { accountId } = tenant;
    // Statements that don't wait for one another are sent together, because many payers share few connections. Each sees the data that was
    // committed when it began, so the two reads see the changes that the lock waited for.
    const work = async (tx: SqlTransaction): Promise<PayResult> => {
      const [, isClosed, booked] = await Promise.all([
        lockForPaying(tx, { accountId, txid }),
        isCancelled(tx, accountId, txid, incoming.method),
        paymentsOf(tx, accountId, txid),
      ]);
      if (isClosed && !force) return 'closed';
      if (booked.some((one) => one.incoming.providerPaymentId === incoming.providerPaymentId)) return 'duplicate';
      if (booked.length >= PAYMENTS_MAX) return 'closed';
      const notification = { tenant, kind: 'payment', reference: incoming.providerPaymentId, paymentId };
      const [isNew, isTold] = await Promise.all([
        book(tx, tenant, txid, incoming),
        notifications.store(notification, tx),
      ]);
      if (!isNew) throw new BookedBefore();
      return isTold ? 'booked' : 'duplicate';
    };
    return db.transaction(work).catch((error: unknown): PayResult => {
      if (error instanceof BookedBefore) return 'duplicate';
      throw error;
    });
  },
  report: (tenant, paymentId, txid, fact) =>
    db.transaction(async (tx) => {
      const number = await note(tx, tenant, txid, fact);
      if (number === null) return false;
      const reference = `${txid}:${number}`;
      return notifications.store({ tenant, kind: 'fact', reference, paymentId }, tx);
    }),
  findCase: (tenant, providerCaseId) => findCase(db, tenant, providerCaseId),
  casesOutOfTurn: (tenant, txid) => casesOutOfTurn(db, tenant, txid),
  releaseTurn: (tenant, providerCaseId) => releaseTurn(db, tenant, providerCaseId),
  openCase: (tenant, paymentId, txid, opened, ordinal) =>
    db.transaction(async (tx) => {
      const booked = await bookCase(tx, tenant, paymentId, txid, ordinal, opened);
      if (booked !== 'booked') return booked;
      const reference = caseReference(opened.providerCaseId, 1);
      return (await notifications.store({ tenant, kind: 'case', reference, paymentId }, tx)) ? booked : 'known';
    }),
  rule: (tenant, paymentId, providerCaseId, ruling, expected) =>
    db.transaction(async (tx) => {
      const number = await bookRuling(tx, tenant, providerCaseId, ruling, expected);
      if (number === null || number === 'full') return number;
      const reference = caseReference(providerCaseId, number);
      await notifications.store({ tenant, kind: 'case', reference, paymentId }, tx);
      return number;
    }),
  decideRefund: (tenant, { paymentId, refundId }, failure, at, late) =>
    db.transaction(async (tx) => {
      if (await decideRefund(tx, { accountId: tenant.accountId, refundId }, failure, at, late))
        await notifications.startJob(tenant, 'refund', { paymentId, refundId }, tx);
      return decidedStatus(tx, tenant.accountId, refundId);
    }),
});

const book = async (tx: Sql, { accountId }: Tenant, txid: string, incoming: IncomingPayment): Promise<boolean> => {
  const { method, providerPaymentId, amount, payer, paidAt } = incoming;
  const { rowCount } = await tx.query({
    name: 'sandbox_book',
    text: `INSERT INTO sandbox_bank.payments (account_id, provider_payment_id, txid, method, amount, payer_name, payer_document, paid_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    values: [accountId, providerPaymentId, txid, method, amount, payer.name, payer.document, paidAt],
  });
  return rowCount === 1;
};

/** Books a fact. Returns its number, or null if the same fact was already booked. */
const note = async (
  tx: Sql,
  { accountId }: Tenant,
  txid: string,
  { kind, method, reason, at }: AcquirerFact,
): Promise<number | null> => {
  await lockUntilEnd(tx, `sandbox facts ${accountId} ${txid}`);
  const { rows } = await tx.query<{ number: number }>(
    `INSERT INTO sandbox_bank.facts (account_id, txid, number, kind, method, reason, at)
     SELECT $1, $2, (SELECT count(*) + 1 FROM sandbox_bank.facts WHERE account_id = $1 AND txid = $2), $3, $4, $5, $6
     WHERE NOT EXISTS (SELECT FROM sandbox_bank.facts WHERE account_id = $1 AND txid = $2 AND kind = $3 AND method = $4)
     RETURNING number`,
    [accountId, txid, kind, method, reason, at],
  );
  return rows[0]?.number ?? null;
};
