// The port to a bank or acquirer. It follows the central bank's standard API (docs/pix.md), so that a real provider needs one adapter. The
// outcome of any call may be unknown: a timeout is not a refusal. Resolve it by asking, never by repeating the effect under another id.
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { BankRuling } from '../../domain/dispute/decisions.ts';
import type { CaseType, DisputeMethod } from '../../domain/dispute/medCase.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Issuance } from '../../domain/payment/create.ts';
import type { RefundOrder, RefundOutcome } from '../../domain/refund/refund.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';

export interface Tenant {
  readonly accountId: AccountId;
  readonly mode: Mode;
}

/** Identifies an instrument at the provider. */
export interface InstrumentRef extends Tenant {
  /** Chosen by Quita, so that a repeated request makes no second instrument. The same for all methods of a payment. */
  readonly txid: string;
  readonly method: PaymentMethod;
}

export interface InstrumentRequest extends InstrumentRef {
  readonly paymentId: PaymentId;
  readonly amount: Minor;
  readonly currency: string;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  readonly receiverName: string;
  readonly receiverCity: string;
  /** `PUBLIC_URL` of the gateway. */
  readonly baseUrl: string;
  /** For a boleto: opens the gateway's PDF, which names the payer. null for other methods. */
  readonly documentToken: string | null;
  readonly metadata: { readonly [key: string]: Json };
}

export type Issued = Exclude<Issuance, { readonly refused: unknown }>;

export type InstrumentOutcome =
  | { readonly kind: 'issued'; readonly issued: Issued }
  | { readonly kind: 'refused'; readonly reason: string; readonly providerErrorCode: string }
  /** The instrument may or may not exist at the provider. Ask `findInstrument`. */
  | { readonly kind: 'unknown' }
  /** The instrument does not exist at the provider. The same request may be retried. */
  | { readonly kind: 'unavailable' };

export type Known<T> = { readonly kind: 'known'; readonly value: T } | { readonly kind: 'unknown' };

/** An acquirer's report about a method that is not a payment. */
export interface AcquirerFact {
  readonly kind: 'processing' | 'refused';
  readonly method: PaymentMethod;
  readonly reason: string | null;
  readonly at: Timestamp;
}

/** A dispute as the provider reports it: its opening, and all rulings since, oldest first. */
export interface ProviderCase {
  /** Unique at the provider; used for deduplication. */
  readonly providerCaseId: string;
  readonly type: CaseType;
  /** null: the payment's amount. */
  readonly amount: Minor | null;
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  readonly payer: { readonly name: string | null; readonly document: string | null };
  /** `unknown`: the provider reports it as unknown; null: not reported (Q2). */
  readonly responseDeadline: Timestamp | 'unknown' | null;
  readonly openedAt: Timestamp;
  readonly rulings: readonly BankRuling[];
}

export type ReturnOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface ProviderStatus {
  /** The provider's own status, such as the standard API's ATIVA or CONCLUIDA. */
  readonly status: string;
  readonly raw: Json;
}

export interface PaymentProvider {
  readonly name: string;
  /** Whether a settled payment's receipt may be shown to the merchant. */
  readonly exposesReceipts: boolean;
  /** Returns the instrument if it can be made without calling the provider, or null if `issue` must be called (K7). */
  issueLocally(request: InstrumentRequest): Issued | null;
  issue(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /**
   * Extends an instrument to the request's expiry, by changing its expiry or reissuing it under the same txid. Returns the new instrument.
   * Idempotent.
   */
  prolong(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /** Returns the instrument, to resolve an `issue` with an unknown outcome. A null value: the provider has no such instrument. */
  findInstrument(request: InstrumentRequest): Promise<Known<Issued | null>>;
  /** Cancels an instrument, so that it accepts no payment. An instrument that never existed counts as cancelled. `paid`: already paid. */
  cancel(ref: InstrumentRef): Promise<'cancelled' | 'paid' | 'unknown'>;
  /** Returns the provider's status of the instrument, to be shown to the merchant. A null value: the provider has no such instrument. */
  statusOf(request: InstrumentRequest): Promise<Known<ProviderStatus | null>>;
  /** Returns all payments received for the txid, by any method, in order of payment. */
  paymentsOf(tenant: Tenant, txid: string): Promise<Known<readonly IncomingPayment[]>>;
  /**
   * Returns all payments made to the tenant in a period of at most 24 hours, bounds included. Used to find payments whose notification was
   * lost.
   */
  paymentsBetween(
    tenant: Tenant,
    from: Timestamp,
    to: Timestamp,
  ): Promise<Known<readonly { readonly txid: string; readonly incoming: IncomingPayment }[]>>;
  /** Returns the payment that a notification names. Must be called before crediting it. A null value: there is no such payment. */
  findPayment(tenant: Tenant, providerPaymentId: string): Promise<Known<IncomingPayment | null>>;
  /** Returns whether the expected tax id paid a Pix, if the provider does not name its payer (pix.md, sanctioned check). */
  checkPayer(
    tenant: Tenant,
    pix: { readonly txid: string; readonly endToEndId: string; readonly expectedTaxId: string },
  ): Promise<'match' | 'mismatch' | 'unknown'>;
  /** Returns the acquirers' reports for the txid other than payments, oldest first. */
  factsOf(tenant: Tenant, txid: string): Promise<Known<readonly AcquirerFact[]>>;
  /** Returns the disputes of payments for the txid, oldest first. */
  casesOf(tenant: Tenant, txid: string): Promise<Known<readonly ProviderCase[]>>;
  /**
   * Returns a received payment in full. Idempotent by `returnId`: a return that was refused is never made under the same id.
   */
  returnPayment(
    tenant: Tenant,
    back: {
      readonly method: PaymentMethod;
      readonly providerPaymentId: string;
      readonly returnId: string;
      readonly amount: Minor;
      /** The charge's metadata. The sandbox reads simulated failures from it (X6). */
      readonly metadata: { readonly [key: string]: Json };
    },
  ): Promise<ReturnOutcome>;
  /** Refunds by devolution, Pix-out or reversal, depending on the order's strategy. Idempotent by the refund's id. */
  refund(order: RefundOrder): Promise<RefundOutcome>;
  /** Returns the outcome of a refund. A null value: the provider has no such refund. */
  findRefund(order: RefundOrder): Promise<Known<Exclude<RefundOutcome, { kind: 'unknown' }> | null>>;
}

export interface PaymentProviders {
  /** Returns the mode's provider, or null if none is configured (E5). */
  of(mode: Mode): PaymentProvider | null;
}

/** The provider gave no definite answer. Nothing was decided; the job is retried. */
export class UnknownAtProvider extends Error {
  override name = 'UnknownAtProvider';
}

/** The provider can't be reached or gave no definite answer. The client gets 503; repeating the same request resumes it (K7). */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}
