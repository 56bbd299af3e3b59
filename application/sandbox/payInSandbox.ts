// POST /v1/sandbox/charges/{id}/pay (rule X1): simulates a payer's bank, through the same notifications and processes as live mode.
import { pendingMethods } from '../../domain/charge/charge.ts';
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { type Minor, toMinor } from '../../domain/kernel/money.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { addSeconds, later, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { NO_PAYER } from '../../domain/payment/erasure.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { type SettleOutcome, settleOutcome } from '../../domain/payment/settle.ts';
import { makeEndToEndId } from '../../domain/pix/ids.ts';
import { SANDBOX_ISPB, SANDBOX_PEOPLE } from '../../domain/pix/sandboxPeople.ts';
import { taxIdOf } from '../../domain/pix/taxId.ts';
import type { IncomingPayment, Payer } from '../../domain/transaction/incomingPayment.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { isOwn } from '../payments/ownPayment.ts';
import type { SandboxBankPort } from '../ports/sandboxBank.ts';
import type { Randomness } from '../ports/system.ts';

export interface SandboxPayment {
  readonly amount?: number;
  /** `document`: as the bank reports it, even masked or wrong; null: not reported. Default: the customer's if valid, else a sample. */
  readonly payer?: { readonly name?: string; readonly document?: string | null };
  readonly end_to_end_id?: string;
  /** Dates the payment after the expiry, even if the bank would reject it. */
  readonly late?: boolean;
}

/** `sent`: the Pix is on its way. All others are final. */
export type SandboxPayResult =
  /** `expected`: the likely outcome of the settlement; other events may change it. */
  | { readonly kind: 'sent'; readonly endToEndId: string; readonly expected: SettleOutcome }
  | { readonly kind: 'duplicate'; readonly endToEndId: string }
  | { readonly kind: 'refused' }
  /** The job that finalizes the payment has not issued the Pix code yet. */
  | { readonly kind: 'notFinalised' };

interface Needs extends UseCaseNeeds {
  readonly bank: Pick<SandboxBankPort, 'pay'>;
  readonly randomness: Randomness;
}

export const payInSandbox =
  ({ commands, accounts, bank, randomness }: Needs) =>
  async (tenant: Tenant, id: PaymentId, request: SandboxPayment): Promise<SandboxPayResult | Rejection> => {
    const { state } = await commands.load(PAYMENT, PAYMENT.stream(id));
    if (!isOwn(state, tenant)) return reject('not_found', 'There is no such charge.');
    const { charge } = state;
    const now = await accounts.now(tenant.accountId, tenant.mode);
    const { pix } = charge.instruments;
    if (pix === null) return { kind: isAwaited(charge) ? 'notFinalised' : 'refused' };
    if (isOver(state, pix.expiresAt, now) && !request.late) return { kind: 'refused' };
    const endToEndId =
      request.end_to_end_id ?? makeEndToEndId({ ispb: SANDBOX_ISPB, at: now, suffix: endToEndSuffix(randomness) });
    const incoming: IncomingPayment = {
      method: 'PIX',
      providerPaymentId: endToEndId,
      amount: request.amount === undefined ? charge.terms.amount : (toMinor(request.amount) as Minor),
      payer: payerOf(state, request.payer),
      paidAt: request.late ? lateTime(now, pix.expiresAt) : now,
    };
    const result = await bank.pay(tenant, id, pix.txid, incoming, request.late === true);
    if (result === 'closed') return { kind: 'refused' };
    if (result === 'duplicate') return { kind: 'duplicate', endToEndId };
    return {
      kind: 'sent',
      endToEndId,
      expected: settleOutcome(state, { incoming, isPlain: true, payerCheck: 'unknown' }),
    };
  };

/** Returns 11 random letters and digits. */
const endToEndSuffix = (randomness: Randomness): string =>
  randomness.bytes(12).toString('base64url').replaceAll(/[-_]/g, 'x').slice(0, 11);

/** Returns whether a job will issue the Pix code (P4). A charge without a code was interrupted and needs a repeated request instead. */
const isAwaited = (charge: ExistingPayment['charge']): boolean =>
  charge.terms.api === 'payments' &&
  (charge.status === 'requested' || charge.status === 'open') &&
  pendingMethods(charge).includes('PIX');

/** Returns whether the payer's bank refuses to pay, because the charge has expired or ended. A second payment is accepted (X1, I8a). */
const isOver = ({ charge, transaction }: ExistingPayment, expiresAt: Timestamp, now: Timestamp): boolean => {
  if (charge.status === 'expired' || charge.status === 'cancelled' || transaction.status === 'refused') return true;
  return (transaction.status === 'none' || transaction.status === 'processing') && now >= expiresAt;
};

const lateTime = (now: Timestamp, expiresAt: Timestamp): Timestamp => later(now, addSeconds(expiresAt, 1));

/** The payer of an erased charge would stay in the bank's books, where no search reads (L4). */
const payerOf = ({ charge }: ExistingPayment, request: SandboxPayment['payer']): Payer => {
  if (charge.erasedAt !== undefined) return NO_PAYER;
  const someone = SANDBOX_PEOPLE[0] as { name: string; document: string };
  const own = charge.terms.customer.document === null ? null : taxIdOf(charge.terms.customer.document);
  const usual = own === null ? someone : { name: charge.terms.customer.name ?? someone.name, document: own };
  if (request === undefined) return usual;
  return {
    name: request.name ?? usual.name,
    document: request.document === undefined ? usual.document : request.document,
  };
};
