// POST /v1/sandbox/payments/{id}/…: simulates acquirers and payers (rule X2), through the same notifications and processes as live mode.
// The first rule that applies decides:
//   1 no such payment                                → not_found
//   2 no suitable method                             → invalid_payment_method
//   3 the action was already done                    → no-op
//   4 the acquirer refuses: ended, declined, not settled by card …  → invalid_request
//   5 the instrument does not exist yet              → the caller waits and tries again
import { pendingMethods } from '../../domain/charge/charge.ts';
import { type Instruments, instrumentExpiry } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { type DisputeRecord, isDisputed } from '../../domain/transaction/disputes.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { refundedAmount } from '../../domain/transaction/refunds.ts';
import { sandboxPaymentIdOf } from '../core/derivedIds.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { AcquirerFact, ProviderCase } from '../ports/paymentProvider.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';
import { casesSoFar, nextCaseName, TOO_MANY_CASES } from './disputeInSandbox.ts';

export type SandboxAct =
  /** `method` null: the first method that can still be used. */
  | { readonly kind: 'authorize'; readonly method: PaymentMethod | null }
  | { readonly kind: 'refuse'; readonly reason: string | null }
  | { readonly kind: 'processing' | 'chargeback' | 'dispute' };

type SandboxActResult =
  /** The action was reported, now or before. `payment`: its state at that time. `isVisible`: whether a given state shows the effect. */
  | {
      readonly kind: 'reported';
      readonly payment: ExistingPayment;
      readonly isVisible: (seen: ExistingPayment) => boolean;
    }
  /** The job that finalizes the payment has not made the instrument yet. */
  | { readonly kind: 'notFinalised' };

export const NOT_FINALISED = reject(
  'invalid_request',
  'The acquirer has not accepted this payment yet. Try again later.',
);

/** Simulates an action of the acquirer or the payer. For rejections and their order, see the top of this file. */
export const actInSandbox =
  ({ commands, accounts, bank }: UseCaseNeeds & { readonly bank: SandboxBankPort }) =>
  async (tenant: Tenant, id: PaymentId, act: SandboxAct): Promise<SandboxActResult | Rejection> => {
    const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(id));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const method = methodOf(payment, act, at);
    if (method === null) return noSuchMethod(payment, act);
    const isVisible = (seen: ExistingPayment) => isDone(seen, act, method) || isOvertaken(seen, act);
    if (isDone(payment, act, method)) return { kind: 'reported', payment, isVisible };
    const refusal = isDisputing(act) ? notDisputable(payment) : notPayable(payment, act, method, at);
    if (refusal !== null) return refusal;
    if (pendingMethods(payment.charge).includes(method)) return { kind: 'notFinalised' };
    const { txid } = payment.charge.terms;
    const report = (kind: AcquirerFact['kind'], reason: string | null = null) =>
      bank.report(tenant, id, txid, { kind, method, reason, at });
    if (act.kind === 'authorize') {
      // A card payment is processing before it is approved.
      if (method === 'CREDIT_CARD') await report('processing');
      const paid = await bank.pay(tenant, id, txid, incomingPaymentOf(payment, method, at), false);
      if (paid === 'closed') return ENDED;
    } else if (act.kind === 'refuse') await report('refused', act.reason);
    else if (act.kind === 'processing') await report('processing');
    else {
      const opened = disputeOf(payment, act.kind, at);
      if ((await bank.openCase(tenant, id, txid, opened, casesSoFar(payment))) === 'full') return TOO_MANY_CASES;
    }
    return { kind: 'reported', payment, isVisible };
  };

const ENDED = reject('invalid_request', 'This payment has ended. The acquirer no longer accepts actions on it.');

const isDisputing = ({ kind }: SandboxAct): boolean => kind === 'chargeback' || kind === 'dispute';

/** Returns the method that the action applies to, or null if the payment has no suitable one. */
const methodOf = ({ charge, transaction }: ExistingPayment, act: SandboxAct, at: Timestamp): PaymentMethod | null => {
  const others: readonly PaymentMethod[] = charge.terms.methods.filter((method) => method !== 'PIX');
  if (act.kind === 'authorize' && act.method !== null) return others.includes(act.method) ? act.method : null;
  if (isDisputing(act)) return others.includes('CREDIT_CARD') ? 'CREDIT_CARD' : null;
  if (transaction.status === 'settled' && others.includes(transaction.settlement.method))
    return transaction.settlement.method;
  if (transaction.status === 'processing' && others.includes(transaction.method)) return transaction.method;
  const usable = others.filter(
    (method) =>
      !transaction.declined.includes(method) &&
      !charge.refusedMethods.includes(method) &&
      !isOver(charge.instruments, method, at),
  );
  return usable[0] ?? others[0] ?? null;
};

const noSuchMethod = ({ charge }: ExistingPayment, act: SandboxAct): Rejection => {
  if (isDisputing(act)) return reject('invalid_payment_method', 'This payment can’t be paid by card.');
  return act.kind === 'authorize' && act.method !== null
    ? reject(
        'invalid_payment_method',
        `This payment does not accept ${act.method}. Its methods are: ${charge.terms.methods.join(', ')}.`,
        { param: 'method' },
      )
    : reject('invalid_payment_method', 'This payment can be paid by Pix only.');
};

/** Returns whether the payment shows the effect of the action. Money that is being returned to the payer does not count as paid. */
const isDone = ({ charge, transaction }: ExistingPayment, act: SandboxAct, method: PaymentMethod): boolean => {
  switch (act.kind) {
    case 'authorize': {
      const id = sandboxPaymentIdOf(charge.terms.paymentId, method);
      const incoming = transaction.incomingPayments.find(({ providerPaymentId }) => providerPaymentId === id);
      return incoming !== undefined && incoming.outcome !== 'rejected';
    }
    case 'refuse':
      return transaction.declined.includes(method);
    case 'processing':
      return transaction.status === 'processing';
    case 'chargeback':
      return transaction.status === 'settled' && isDisputedAs('CHARGEBACK', transaction.dispute);
    case 'dispute':
      return transaction.status === 'settled' && isDisputedAs('DISPUTE', transaction.dispute);
    default:
      return act satisfies never;
  }
};

const isDisputedAs = (kind: DisputeRecord['kind'], dispute: DisputeRecord | null): boolean =>
  isDisputed(dispute) && dispute.kind === kind;

const disputeOf = (
  payment: ExistingPayment,
  type: 'chargeback' | 'dispute',
  openedAt: Timestamp,
): Omit<ProviderCase, 'rulings'> => ({
  providerCaseId: nextCaseName(payment),
  type,
  amount: null,
  method: null,
  reason: null,
  payer: { name: null, document: null },
  responseDeadline: null,
  openedAt,
});

/** Returns whether another event came first, so that the action has no effect. */
const isOvertaken = ({ transaction: { status } }: ExistingPayment, { kind }: SandboxAct): boolean =>
  (kind === 'refuse' || kind === 'processing') && status !== 'none' && status !== 'processing';

/** Returns why the acquirer can neither accept nor decline a payment by the method, or null if it can. */
const notPayable = (
  payment: ExistingPayment,
  act: SandboxAct,
  method: PaymentMethod,
  at: Timestamp,
): Rejection | null => {
  const { charge, transaction } = payment;
  if (transaction.declined.includes(method) || charge.refusedMethods.includes(method))
    return reject('invalid_request', `The acquirer has declined ${method} for this payment.`);
  if (charge.status === 'expired' || charge.status === 'cancelled' || charge.status === 'failed') return ENDED;
  // A second payment for a settled charge arrives and is returned (I8a).
  if (transaction.status === 'refused' || isOvertaken(payment, act)) return ENDED;
  return isOver(charge.instruments, method, at) ? ENDED : null;
};

/** Returns whether the method's instrument has expired (I8a). */
const isOver = (instruments: Instruments, method: PaymentMethod, at: Timestamp): boolean => {
  const expiresAt = instrumentExpiry(instruments, method);
  return expiresAt !== null && at > expiresAt;
};

const incomingPaymentOf = ({ charge }: ExistingPayment, method: PaymentMethod, paidAt: Timestamp): IncomingPayment => ({
  method,
  providerPaymentId: sandboxPaymentIdOf(charge.terms.paymentId, method),
  amount: charge.terms.amount,
  payer: { name: charge.terms.customer.name, document: null },
  paidAt,
});

const notDisputable = ({ transaction }: ExistingPayment): Rejection | null => {
  if (transaction.status !== 'settled' || transaction.settlement.method !== 'CREDIT_CARD')
    return reject('invalid_request', 'Only payments settled by card can be disputed.');
  if (isDisputed(transaction.dispute)) return reject('invalid_request', 'This payment is already disputed.');
  const { settlement, refunds } = transaction;
  return refundedAmount(refunds) === settlement.incoming.amount
    ? reject('invalid_request', 'This payment was fully refunded: nothing is left to dispute.')
    : null;
};
