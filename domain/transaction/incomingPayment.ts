// A payment that arrived, and what became of it.
import type { PaymentMethod } from '../charge/methods.ts';
import type { RefundId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import { payerTaxIdOf } from '../pix/taxId.ts';

/** As the bank names the payer; the document may be missing. */
export interface Payer {
  readonly name: string | null;
  readonly document: string | null;
}

/** One payment that arrived, as the provider reports it. */
export interface IncomingPayment {
  readonly method: PaymentMethod;
  /** The provider's id of the payment: of a Pix its end-to-end id, otherwise the acquirer's own. Unique at the provider: the dedup key. */
  readonly providerPaymentId: string;
  readonly amount: Minor;
  readonly payer: Payer;
  /** The provider's payment time: lateness is judged by it (M4). */
  readonly paidAt: Timestamp;
}

/** Returns the bare tax id of whoever paid; null when the bank names nobody by it (M5). */
export const payerTaxId = ({ payer }: IncomingPayment): string | null => payerTaxIdOf(payer.document);

export type RejectionReason = 'wrong_amount' | 'second_payment' | 'charge_ended' | 'payer_mismatch';

/** A Pix-out in place of a refused return. */
export interface HeldPayout {
  readonly payoutId: RefundId;
  readonly destination: string;
  readonly fee: Minor;
  readonly requestedAt: Timestamp;
  readonly outcome: 'requested' | 'paid' | 'failed';
}

/** A confirmation that came after the refusal. */
export interface LateConfirmation {
  readonly id: string;
  readonly amount: Minor;
  readonly at: Timestamp;
  readonly isWrittenOff: boolean;
}

/** Every payment ever seen for the charge, in order of arrival. */
export interface IncomingPaymentRecord {
  readonly method: PaymentMethod;
  readonly providerPaymentId: string;
  readonly amount: Minor;
  /** `rejected`: on its way back; `unreturned`: the provider refuses to send it back; the last three: as an operator settled it (M10). */
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
  /** The provider's latest refusal to send it back, and how many there were. */
  readonly refusal?: { readonly reason: string; readonly at: Timestamp; readonly number: number };
  /** In order of their requests. */
  readonly payouts?: readonly HeldPayout[];
  readonly late?: readonly LateConfirmation[];
}

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
