// An incoming payment and its outcome.
import type { PaymentMethod } from '../charge/methods.ts';
import type { RefundId } from '../kernel/ids.ts';
import { type Minor, subtract } from '../kernel/money.ts';
import { money, nullable, text, time } from '../kernel/serde.ts';
import type { Timestamp } from '../kernel/time.ts';
import { contradicts, payerTaxIdOf } from '../pix/taxId.ts';

/** The payer as the bank reports it; the document may be missing. */
export interface Payer {
  readonly name: string | null;
  readonly document: string | null;
}

export const isNamed = ({ name, document }: Payer): boolean => name !== null || document !== null;

/** One incoming payment as the provider reports it. */
export interface IncomingPayment {
  readonly method: PaymentMethod;
  /** Unique id at the provider, used for deduplication: the end-to-end id of a Pix, otherwise the acquirer's id. */
  readonly providerPaymentId: string;
  readonly amount: Minor;
  readonly payer: Payer;
  /** Payment time at the provider, which decides whether the payment is late (M4). */
  readonly paidAt: Timestamp;
}

/** Returns the payer's CPF or CNPJ without punctuation, or null if the bank reports none (M5). */
export const payerTaxId = ({ payer }: IncomingPayment): string | null => payerTaxIdOf(payer.document);

/** Returns whether the payer's document is masked, and its visible digits contradict the payer lock (V6). */
export const contradictsLock = ({ payer }: IncomingPayment, lock: string): boolean => contradicts(payer.document, lock);

/** The part that all events about moved money share, and its stored form. */
export interface Moved {
  readonly amount: Minor;
  readonly currency: string;
  readonly at: Timestamp;
}
export const moved = { amount: money, currency: text(), at: time };

/** Which return the provider confirmed: an earlier order, which it had refused, or null for the latest one. */
export interface EarlierReturn {
  readonly returnId: string | null;
}
export const earlierReturn = { returnId: nullable(text()) };
export const NO_EARLIER_RETURN = { returnId: { usually: null } } as const;

export type RejectionReason = 'wrong_amount' | 'second_payment' | 'charge_ended' | 'payer_mismatch';

/** A Pix-out that replaces a refused return. */
export interface HeldPayout {
  readonly payoutId: RefundId;
  readonly destination: string;
  /** What the Pix-out pays, whatever was returned outside Quita since. */
  readonly amount: Minor;
  readonly fee: Minor;
  readonly requestedAt: Timestamp;
  readonly outcome: 'requested' | 'paid' | 'failed';
}

/** A confirmation that arrived after the refusal. */
export interface LateConfirmation {
  readonly id: string;
  readonly amount: Minor;
  readonly at: Timestamp;
  readonly isWrittenOff: boolean;
}

/** An incoming payment with its outcome. A charge lists all of them in order of arrival. */
export interface IncomingPaymentRecord {
  readonly method: PaymentMethod;
  readonly providerPaymentId: string;
  readonly amount: Minor;
  /** `rejected`: being returned; `unreturned`: the provider refused the return; the last three: settled by an operator (M10). */
  readonly outcome:
    | 'settled'
    | 'held'
    | 'rejected'
    | 'returned'
    | 'unreturned'
    | 'payingOut'
    | 'paidOut'
    | 'writtenOff';
  readonly reason: RejectionReason | 'operator' | 'cancelled' | 'released' | null;
  readonly returnId: string | null;
  /** The provider's latest refusal to return it, and the number of refusals. */
  readonly refusal?: { readonly reason: string; readonly at: Timestamp; readonly number: number };
  /** The latest return whose outcome the provider did not report, and when it was first sent. */
  readonly unanswered?: { readonly returnId: string; readonly at: Timestamp };
  /** In order of request. */
  readonly payouts?: readonly HeldPayout[];
  readonly late?: readonly LateConfirmation[];
  /** Returns that Quita did not request, each with the amount by which it reduced the payment's remainder. */
  readonly outside?: readonly { readonly id: string; readonly amount: Minor }[];
  /** When it was last returned, paid out or written off; absent if it never was. */
  readonly lastMovedAt?: Timestamp;
  /** The payer of a rejected payment if recorded nowhere else, so that searches find the person (L1); absent if the bank names none. */
  readonly payer?: Payer;
}

/** Returns the amount of the payment less its returns outside Quita. */
export const leftOf = ({ amount, outside = [] }: Pick<IncomingPaymentRecord, 'amount' | 'outside'>): Minor =>
  outside.reduce((left, one) => subtract(left, one.amount), amount);

export const recordOf = (
  { method, providerPaymentId, amount }: IncomingPayment,
  outcome: IncomingPaymentRecord['outcome'],
  reason: RejectionReason | null = null,
  returnId: string | null = null,
): IncomingPaymentRecord => ({ method, providerPaymentId, amount, outcome, reason, returnId });

export const replaced = (
  incomingPayments: readonly IncomingPaymentRecord[],
  providerPaymentId: string,
  change: Partial<IncomingPaymentRecord>,
): readonly IncomingPaymentRecord[] =>
  incomingPayments.map((one) => (one.providerPaymentId === providerPaymentId ? { ...one, ...change } : one));
