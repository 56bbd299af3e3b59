// A bank or acquirer, as the core needs it. Shaped by the central bank's standard API (shared/pix.md), so that a real provider is one
// adapter. Every call may end unknown: a timeout is not a refusal, and unknown is resolved by asking, never by repeating the effect
// under another name.
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Json } from '../../domain/kernel/serde.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Issuance } from '../../domain/payment/create.ts';
import type { RefundOrder, RefundOutcome } from '../../domain/refund/refund.ts';
import type { IncomingPayment } from '../../domain/transaction/transaction.ts';

export interface Tenant {
  readonly accountId: AccountId;
  readonly mode: Mode;
}

/** Names an instrument at the provider. */
export interface InstrumentRef extends Tenant {
  /** Chosen by us, so that asking twice makes one. One for all methods of a payment. */
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
  /** It may or may not exist there: ask. */
  | { readonly kind: 'unknown' }
  /** It does not exist there; the same request may be made again. */
  | { readonly kind: 'unavailable' };

export type Known<T> = { readonly kind: 'known'; readonly value: T } | { readonly kind: 'unknown' };

/** What else than a payment an acquirer tells of a method. */
export interface AcquirerFact {
  readonly kind: 'processing' | 'refused' | 'chargeback' | 'dispute';
  readonly method: PaymentMethod;
  readonly reason: string | null;
  readonly at: Timestamp;
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
  /** The instrument, when none but ourselves needs to be asked; null when `issue` must be called (K7). */
  issueLocally(request: InstrumentRequest): Issued | null;
  issue(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /**
   * Has what was issued end at the request's expiry, which is later: by moving it there, or by making it anew under the same name. What
   * comes back is the instrument as it is from now on. Asked twice: once.
   */
  prolong(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /** What became of an `issue` whose outcome is unknown; `null`: the provider has no such instrument. */
  findInstrument(request: InstrumentRequest): Promise<Known<Issued | null>>;
  /** Takes no more money for it from here on. What the provider never heard of counts as cancelled. `paid`: too late. */
  cancel(ref: InstrumentRef): Promise<'cancelled' | 'paid' | 'unknown'>;
  /** What the provider says of it, for the merchant to see; null: it never heard of it. */
  statusOf(request: InstrumentRequest): Promise<Known<ProviderStatus | null>>;
  /** Every payment that arrived for the txid, by any method, in order of payment. */
  paymentsOf(tenant: Tenant, txid: string): Promise<Known<readonly IncomingPayment[]>>;
  /**
   * Every payment of the tenant that was made in a period, bounds included: finds what no notification told of. The period is 24 hours
   * long at most.
   */
  paymentsBetween(
    tenant: Tenant,
    from: Timestamp,
    to: Timestamp,
  ): Promise<Known<readonly { readonly txid: string; readonly incoming: IncomingPayment }[]>>;
  /** A payment that a notification told of, asked for again before anything is credited; null: there is none. */
  findPayment(tenant: Tenant, providerPaymentId: string): Promise<Known<IncomingPayment | null>>;
  /** Whether a Pix whose payer the provider does not name was paid by the tax id expected (pix.md, sanctioned check). */
  checkPayer(
    tenant: Tenant,
    pix: { readonly txid: string; readonly endToEndId: string; readonly expectedTaxId: string },
  ): Promise<'match' | 'mismatch' | 'unknown'>;
  /** What acquirers told of the txid besides payments, oldest first. */
  factsOf(tenant: Tenant, txid: string): Promise<Known<readonly AcquirerFact[]>>;
  /**
   * Sends a received payment back in full. The same `returnId` returns once, however often it is asked; refused once, it is never sent
   * under that name.
   */
  returnPayment(
    tenant: Tenant,
    back: {
      readonly method: PaymentMethod;
      readonly providerPaymentId: string;
      readonly returnId: string;
      readonly amount: Minor;
    },
  ): Promise<ReturnOutcome>;
  /** A return by the original id, a Pix-out or a reversal, as the order's strategy says. The same refund id pays once. */
  refund(order: RefundOrder): Promise<RefundOutcome>;
  /** What became of it; null: the provider has no such refund. */
  findRefund(order: RefundOrder): Promise<Known<Exclude<RefundOutcome, { kind: 'unknown' }> | null>>;
}

export interface PaymentProviders {
  /** null: no provider is configured for this mode (E5). */
  of(mode: Mode): PaymentProvider | null;
}

/** The provider did not say. What was asked is asked again; nothing was decided. */
export class UnknownAtProvider extends Error {
  override name = 'UnknownAtProvider';
}

/** The provider can't be reached, or did not say: told to whoever waits for it. The same request goes on where it stands (K7). */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}
