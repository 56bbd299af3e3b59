// POST /v1/sandbox/payments/{id}/…: what an acquirer and its payers do (rule X2), through the same notifications and processes as
// live. The first rule that applies decides:
//   1 no such payment                              → not_found
//   2 no method that can be meant                  → invalid_payment_method
//   3 it is so already                             → nothing is done
//   4 the instrument is not there yet              → the caller waits and asks again
//   5 the acquirer refuses: ended, declined, not settled by card …  → invalid_request
import { pendingMethods } from '../../domain/charge/charge.ts';
import { instrumentExpiry } from '../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { type DisputeRecord, isDisputed } from '../../domain/transaction/disputes.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import { refundedAmount } from '../../domain/transaction/refunds.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { sandboxPaymentIdOf } from '../core/derivedIds.ts';
import { isOwn, NO_PAYMENT } from '../payments/ownPayment.ts';
import type { AcquirerFact, ProviderCase, Tenant } from '../ports/paymentProvider.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';
import { casesSoFar, nextCaseName } from './disputeInSandbox.ts';

export type SandboxAct =
  /** null: the first method that can still be paid with. */
  | { readonly kind: 'authorize'; readonly method: PaymentMethod | null }
  | { readonly kind: 'refuse'; readonly reason: string | null }
  | { readonly kind: 'processing' | 'chargeback' | 'dispute' };

type SandboxActResult =
  /** The act was reported to the gateway, before or now; `payment` as it was then. `isVisible`: whether a read payment shows its effect. */
  | {
      readonly kind: 'reported';
      readonly payment: ExistingPayment;
      readonly isVisible: (seen: ExistingPayment) => boolean;
    }
  /** The job that finalises the payment has not made the instrument yet. */
  | { readonly kind: 'notFinalised' };

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly bank: SandboxBankPort;
}

export const NOT_FINALISED = reject('invalid_request', 'The acquirer has not taken this payment yet.');

/** Has the acquirer or the payer act. Rejections and their order: at the top of this file. */
export const actInSandbox =
  ({ commands, accounts, bank }: Needs) =>
  async (tenant: Tenant, id: PaymentId, act: SandboxAct): Promise<SandboxActResult | Rejection> => {
    const { state: payment } = await commands.load(PAYMENT, PAYMENT.stream(id));
    if (!isOwn(payment, tenant)) return NO_PAYMENT;
    const method = methodOf(payment, act);
    if (method === null) return noSuchMethod(payment, act);
    const isVisible = (seen: ExistingPayment) => isDone(seen, act, method) || isOvertaken(seen, act);
    if (isDone(payment, act, method)) return { kind: 'reported', payment, isVisible };
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const refusal = isDisputing(act) ? notDisputable(payment) : notPayable(payment, act, method, at);
    if (refusal !== null) return refusal;
    if (pendingMethods(payment.charge).includes(method)) return { kind: 'notFinalised' };
    const { txid } = payment.charge.terms;
    const report = (kind: AcquirerFact['kind'], reason: string | null = null) =>
      bank.report(tenant, id, txid, { kind, method, reason, at });
    if (act.kind === 'authorize') {
      // A card is in flight before it is approved.
      if (method === 'CREDIT_CARD') await report('processing');
      const paid = await bank.pay(tenant, id, txid, incomingPaymentOf(payment, method, at), false);
      if (paid === 'cancelled') return ENDED;
    } else if (act.kind === 'refuse') await report('refused', act.reason);
    else if (act.kind === 'processing') await report('processing');
    else await bank.openCase(tenant, id, txid, disputeOf(payment, act.kind, at), casesSoFar(payment));
    return { kind: 'reported', payment, isVisible };
  };

const ENDED = reject('invalid_request', 'This payment has ended: the acquirer takes nothing for it any more.');

const isDisputing = ({ kind }: SandboxAct): boolean => kind === 'chargeback' || kind === 'dispute';

/** The method that is meant; null when the payment has none. */
const methodOf = ({ charge, transaction }: ExistingPayment, act: SandboxAct): PaymentMethod | null => {
  const others: readonly PaymentMethod[] = charge.terms.methods.filter((method) => method !== 'PIX');
  if (act.kind === 'authorize' && act.method !== null) return others.includes(act.method) ? act.method : null;
  if (isDisputing(act)) return others.includes('CREDIT_CARD') ? 'CREDIT_CARD' : null;
  if (transaction.status === 'settled' && others.includes(transaction.settlement.method))
    return transaction.settlement.method;
  if (transaction.status === 'processing' && others.includes(transaction.method)) return transaction.method;
  const usable = others.filter(
    (method) => !transaction.declined.includes(method) && !charge.refusedMethods.includes(method),
  );
  return usable[0] ?? others[0] ?? null;
};

const noSuchMethod = ({ charge }: ExistingPayment, act: SandboxAct): Rejection => {
  if (isDisputing(act)) return reject('invalid_payment_method', 'This payment can’t be paid by card.');
  return act.kind === 'authorize' && act.method !== null
    ? reject(
        'invalid_payment_method',
        `${act.method} can’t be authorised: the methods of this payment are ${charge.terms.methods.join(', ')}.`,
        { param: 'method' },
      )
    : reject('invalid_payment_method', 'This payment can be paid by Pix only.');
};

/** Whether the payment shows that it happened, now or before. A payment on its way back to its payer is not there yet. */
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

/** Whether something else came first, so that the act changes nothing any more. */
const isOvertaken = ({ transaction: { status } }: ExistingPayment, { kind }: SandboxAct): boolean =>
  (kind === 'refuse' || kind === 'processing') && status !== 'none' && status !== 'processing';

/** Why the acquirer neither takes money by the method nor declines it; null when it does. */
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
  // A second payment of a settled one lands, and goes back (I8a).
  if (transaction.status === 'refused' || isOvertaken(payment, act)) return ENDED;
  const expiresAt = instrumentExpiry(charge.instruments, method);
  return expiresAt !== null && at > expiresAt ? ENDED : null;
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
    return reject('invalid_request', 'Only a payment that is settled by card can be disputed.');
  if (isDisputed(transaction.dispute)) return reject('invalid_request', 'This payment is disputed already.');
  const { settlement, refunds } = transaction;
  return refundedAmount(refunds) === settlement.incoming.amount
    ? reject('invalid_request', 'This payment is refunded: nothing of it is left to dispute.')
    : null;
};
