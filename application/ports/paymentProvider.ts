// A bank or acquirer, as the core needs it. Shaped by the central bank's standard API (docs/pix.md), so that a real provider is one
// adapter. Every call may end unknown: a timeout is not a refusal, and unknown is resolved by asking, never by repeating the effect
// under another name.
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

/** Names an instrument at the provider. */
export interface InstrumentRef extends Tenant {
  /** Chosen by us, so that a repeated request makes no second instrument. The same for all methods of a payment. */
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
  /** Of a boleto: opens the gateway's own PDF of it, which names the payer; null for other methods. */
  readonly documentToken: string | null;
  readonly metadata: { readonly [key: string]: Json };
}

export type Issued = Exclude<Issuance, { readonly refused: unknown }>;

export type InstrumentOutcome =
  | { readonly kind: 'issued'; readonly issued: Issued }
  | { readonly kind: 'refused'; readonly reason: string; readonly providerErrorCode: string }
  /** It may or may not exist there: `findInstrument` answers that. */
  | { readonly kind: 'unknown' }
  /** It does not exist there; the same request may be made again. */
  | { readonly kind: 'unavailable' };

export type Known<T> = { readonly kind: 'known'; readonly value: T } | { readonly kind: 'unknown' };

/** What an acquirer reports about a method besides a payment. */
export interface AcquirerFact {
  readonly kind: 'processing' | 'refused';
  readonly method: PaymentMethod;
  readonly reason: string | null;
  readonly at: Timestamp;
}

/** A dispute as the provider has it: its opening, and what was ruled since, oldest first. */
export interface ProviderCase {
  /** Unique at the provider: the dedup key. */
  readonly providerCaseId: string;
  readonly type: CaseType;
  /** null: the payment's. */
  readonly amount: Minor | null;
  readonly method: DisputeMethod | null;
  readonly reason: string | null;
  readonly payer: { readonly name: string | null; readonly document: string | null };
  /** `unknown`: the provider says so; null: it says nothing (Q2). */
  readonly responseDeadline: Timestamp | 'unknown' | null;
  readonly openedAt: Timestamp;
  readonly rulings: readonly BankRuling[];
}

export type ReturnOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface ProviderStatus {
  /** The provider's own word, such as the standard API's ATIVA or CONCLUIDA. */
  readonly status: string;
  readonly raw: Json;
}

export interface PaymentProvider {
  readonly name: string;
  /** Whether a settled payment's receipt may be shown to the merchant. */
  readonly exposesReceipts: boolean;
  /** Returns the instrument where it can be made without asking the provider; null when `issue` must be called (K7). */
  issueLocally(request: InstrumentRequest): Issued | null;
  issue(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /**
   * Prolongs an instrument to the request's expiry, by moving its end or by making it anew under the same txid. Returns the instrument as
   * it is from now on. Idempotent.
   */
  prolong(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /** Returns what an `issue` whose outcome is unknown has led to; a null value: the provider has no such instrument. */
  findInstrument(request: InstrumentRequest): Promise<Known<Issued | null>>;
  /** Ends an instrument: no payment for it is taken any more. One that the provider never had counts as cancelled. `paid`: too late. */
  cancel(ref: InstrumentRef): Promise<'cancelled' | 'paid' | 'unknown'>;
  /** Returns the provider's own status of the instrument, to be shown to the merchant; a null value: the provider has none. */
  statusOf(request: InstrumentRequest): Promise<Known<ProviderStatus | null>>;
  /** Returns every payment that arrived for the txid, by any method, in order of payment. */
  paymentsOf(tenant: Tenant, txid: string): Promise<Known<readonly IncomingPayment[]>>;
  /**
   * Returns every payment to the tenant that was made in a period of 24 hours at most, bounds included. Finds payments whose notification
   * was lost.
   */
  paymentsBetween(
    tenant: Tenant,
    from: Timestamp,
    to: Timestamp,
  ): Promise<Known<readonly { readonly txid: string; readonly incoming: IncomingPayment }[]>>;
  /** Returns the payment that a notification names, which must be read here before it is credited; a null value: there is none. */
  findPayment(tenant: Tenant, providerPaymentId: string): Promise<Known<IncomingPayment | null>>;
  /** Whether a Pix whose payer the provider does not name was paid by the tax id expected (pix.md, sanctioned check). */
  checkPayer(
    tenant: Tenant,
    pix: { readonly txid: string; readonly endToEndId: string; readonly expectedTaxId: string },
  ): Promise<'match' | 'mismatch' | 'unknown'>;
  /** Returns what the acquirers of the txid reported besides payments, oldest first. */
  factsOf(tenant: Tenant, txid: string): Promise<Known<readonly AcquirerFact[]>>;
  /** Returns the disputes of what was paid for the txid, oldest first. */
  casesOf(tenant: Tenant, txid: string): Promise<Known<readonly ProviderCase[]>>;
  /**
   * Sends a received payment back in full. Idempotent by `returnId`; a return that was refused once is never made under that id.
   */
  returnPayment(
    tenant: Tenant,
    back: {
      readonly method: PaymentMethod;
      readonly providerPaymentId: string;
      readonly returnId: string;
      readonly amount: Minor;
      /** Of the charge: the sandbox reads from it what trouble is wanted (X6). */
      readonly metadata: { readonly [key: string]: Json };
    },
  ): Promise<ReturnOutcome>;
  /** Refunds by devolution, Pix-out or reversal, as the order's strategy says. Idempotent by the refund's id. */
  refund(order: RefundOrder): Promise<RefundOutcome>;
  /** Returns the outcome of a refund; a null value: the provider has no such refund. */
  findRefund(order: RefundOrder): Promise<Known<Exclude<RefundOutcome, { kind: 'unknown' }> | null>>;
}

export interface PaymentProviders {
  /** null: no provider is configured for this mode (E5). */
  of(mode: Mode): PaymentProvider | null;
}

/** The provider gave no definite answer. Nothing was decided; the job is retried and asks again. */
export class UnknownAtProvider extends Error {
  override name = 'UnknownAtProvider';
}

/** The provider can't be reached, or gave no definite answer; the caller gets 503. A repeat of the same request goes on from there (K7). */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}
