// The port to banks, payment institutions and acquirers. It follows the central bank's standard API (docs/pix.md), so that a real provider
// needs one adapter. The outcome of any call may be unknown: a timeout is not a refusal. Resolve it by asking, never by repeating the
// effect under another id.
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { BankRuling } from '../../domain/dispute/decisions.ts';
import type { CaseType, DisputeMethod } from '../../domain/dispute/medCase.ts';
import type { AccountId, ConnectionId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Issuance } from '../../domain/payment/create.ts';
import type { PayerCheck } from '../../domain/payment/settle.ts';
import type { RefundOrder, RefundOutcome } from '../../domain/refund/refund.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import type { ReturnNature } from '../../domain/transaction/returnedOutside.ts';

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
  /** The lifetime counts from the provider's own time of creation. */
  readonly lifetimeSeconds: number;
  /** null unless both the name and the document are known. */
  readonly debtor: { readonly name: string; readonly document: string } | null;
  /** A message to the payer. */
  readonly note: string | null;
  /** Additional data for the sandbox bank; null in live mode, so that a merchant's metadata never reaches a real bank. */
  readonly sandbox: SandboxTerms | null;
}

export interface SandboxTerms {
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
  /** This call certainly created no instrument (V7). The same request may be retried. */
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
  /** The payer has the money (V9). */
  | { readonly kind: 'done' }
  /** The return is under way. The same request later returns its outcome. */
  | { readonly kind: 'processing' }
  /** `isListed`: the provider lists the return as refused, so no earlier request for it is under way. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isListed?: true }
  | { readonly kind: 'unknown' };

/** A return of a received Pix, made by Quita or by somebody else at the provider. */
export interface ProviderReturn {
  /** Chosen by the party that requested the return; unique for the Pix. */
  readonly id: string;
  /** The network's id (`D…`), or null if the provider doesn't report it. */
  readonly returnId: string | null;
  readonly nature: ReturnNature;
  readonly status: 'processing' | 'done' | 'refused';
  readonly amount: Minor;
  /** When it was requested, and settled if it is done. */
  readonly requestedAt: Timestamp;
  readonly settledAt: Timestamp | null;
  readonly reason: string | null;
}

/** A payment that the provider received. */
export interface ReceivedPayment {
  /** null: paid to the key without a charge. */
  readonly txid: string | null;
  readonly incoming: IncomingPayment;
  /** Whether the amount is only the price, without a withdrawal or change (`componentesValor`). */
  readonly isPlain: boolean;
  /** Oldest first. */
  readonly returns: readonly ProviderReturn[];
  /** In lists: it was paid to a former Pix key of the connection that another connection has now. */
  readonly hasMovedKey?: true;
}

/** The reports of an acquirer about methods that are not paid at once. */
export interface AcquirerReports {
  /** Returns the acquirers' reports for the txid other than payments, oldest first. */
  factsOf(tenant: Tenant, txid: string): Promise<Known<readonly AcquirerFact[]>>;
}

/** The reports of a provider about disputes. The standard API has none. */
export interface DisputeFeed {
  /** Returns the disputes of payments for the txid, oldest first. */
  casesOf(tenant: Tenant, txid: string): Promise<Known<readonly ProviderCase[]>>;
}

export interface ProviderStatus {
  /** The provider's own status, such as the standard API's ATIVA or CONCLUIDA. */
  readonly status: string;
  /** The response, without those who paid: merchants see it. */
  readonly raw: Json;
}

/** A payment in the list of a provider that serves all accounts. */
export interface BookedPayment extends Pick<ReceivedPayment, 'txid' | 'incoming'> {
  readonly accountId: AccountId;
  readonly bookedAt: Timestamp;
}
export interface BookedPage {
  readonly items: readonly BookedPayment[];
  /** Cursor of the next page; null: this is the last one. */
  readonly next: string | null;
}

export interface PaymentProvider {
  /** null: the sandbox bank. */
  readonly connectionId: ConnectionId | null;
  readonly name: string;
  /** Whether it can send Pix payments: payouts, and refunds by `cashout` (M6a). */
  readonly paysOut: boolean;
  /**
   * The provider's clock decides when an instrument expires. The reported expiry applies. An instrument is prolonged only if issuing was
   * interrupted and it would live 90 s less than requested (V8).
   */
  readonly ownsExpiry: boolean;
  readonly acquirer: AcquirerReports | null;
  readonly disputes: DisputeFeed | null;
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
  /**
   * Cancels an instrument, so that it accepts no payment. An instrument that never existed counts as cancelled. `paid`: already paid;
   * `removed`: the provider removed it before.
   */
  cancel(ref: InstrumentRef): Promise<'cancelled' | 'removed' | 'paid' | 'unknown'>;
  /** Returns the provider's status of the instrument, to be shown to the merchant. A null value: the provider has no such instrument. */
  statusOf(request: InstrumentRequest): Promise<Known<ProviderStatus | null>>;
  /** Returns all payments received for the txid, by any method, in order of payment. */
  paymentsOf(tenant: Tenant, txid: string): Promise<Known<readonly ReceivedPayment[]>>;
  /**
   * Returns a page of the payments that the provider booked in a period, bounds included, of all its accounts, in order of booking.
   * `after`: `next` of the page before; null for the first. Used to find payments whose notification was lost. Absent if the provider's
   * list belongs to a connection.
   */
  bookedBetween?(from: Timestamp, to: Timestamp, after: string | null): Promise<Known<BookedPage>>;
  /** Returns the payment that a notification names. Must be called before crediting it. A null value: there is no such payment. */
  findPayment(tenant: Tenant, providerPaymentId: string): Promise<Known<ReceivedPayment | null>>;
  /**
   * Binds a received payment to one payment, so that it is never credited twice (claim by end-to-end id). Returns false if it is bound to
   * another one.
   */
  claim(providerPaymentId: string, paymentId: PaymentId): Promise<boolean>;
  /**
   * Compares the payer of a Pix with the expected tax id, if the provider does not name its payer (pix.md, sanctioned check). The value
   * `unknown`: the provider can't tell. Without an answer, ask again.
   */
  checkPayer(
    tenant: Tenant,
    pix: {
      readonly txid: string;
      readonly endToEndId: string;
      readonly paidAt: Timestamp;
      readonly expectedTaxId: string;
    },
  ): Promise<Known<PayerCheck>>;
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
      /** The charge's metadata, from which the sandbox reads simulated failures (X6); null in live mode. */
      readonly metadata: { readonly [key: string]: Json } | null;
    },
  ): Promise<ReturnOutcome>;
  /**
   * Refunds by devolution, Pix-out or reversal, depending on the order's strategy. Idempotent by the refund's id. `metadata`: as in
   * `returnPayment`.
   */
  refund(order: RefundOrder, metadata?: { readonly [key: string]: Json } | null): Promise<RefundOutcome>;
  /** Returns the outcome of a refund. A null value: the provider has no such refund. */
  findRefund(order: RefundOrder): Promise<Known<Exclude<RefundOutcome, { kind: 'unknown' }> | null>>;
}

/** The fields that identify the connection of a payment. */
export interface Connected extends Pick<Tenant, 'mode'> {
  readonly connectionId: ConnectionId | null;
}

export interface PaymentProviders {
  /**
   * Returns the providers that take new payments of the tenant by all these methods, in the order in which they are tried (V7). Empty if
   * none is configured (E5).
   */
  route(tenant: Tenant, methods: readonly PaymentMethod[]): Promise<readonly PaymentProvider[]>;
  /** Returns the provider of a payment, or null while its connection is disabled (V5) or can't be opened. */
  of(payment: Connected): Promise<PaymentProvider | null>;
}

/** The provider gave no definite answer. Nothing was decided; the job is retried. */
export class UnknownAtProvider extends Error {
  override name = 'UnknownAtProvider';
}
/** Returns the error if it is an UnknownAtProvider, and throws any other. For work that is repeated anyway. */
export const unlessUnknown = (error: unknown): UnknownAtProvider => {
  if (!(error instanceof UnknownAtProvider)) throw error;
  return error;
};

/** The provider can't be reached or gave no definite answer. The client gets 503; repeating the same request resumes it (K7). */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}
