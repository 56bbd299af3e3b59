// A bank or acquirer, as the core needs it. Shaped by the central bank's standard API (shared/pix.md). Every call may end unknown:
// a timeout is not a refusal, and unknown is resolved by asking, never by repeating the effect under another name.
import type { PixInstrument } from '../../domain/charge/instruments.ts';
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Json } from '../../domain/kernel/serde.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Receipt } from '../../domain/transaction/transaction.ts';

export interface Tenant {
  readonly accountId: AccountId;
  readonly mode: Mode;
}

export interface InstrumentRequest extends Tenant {
  readonly paymentId: PaymentId;
  /** Chosen by us, so that asking twice makes one. */
  readonly txid: string;
  readonly amount: Minor;
  readonly expiresAt: Timestamp;
  readonly receiverName: string;
  readonly receiverCity: string;
  /** `PUBLIC_URL` of the gateway. */
  readonly baseUrl: string;
  readonly metadata: { readonly [key: string]: Json };
}

export type InstrumentOutcome =
  | { readonly kind: 'issued'; readonly instrument: PixInstrument }
  | { readonly kind: 'refused'; readonly reason: string; readonly providerErrorCode: string }
  /** It may or may not exist there: ask. */
  | { readonly kind: 'unknown' }
  /** It does not exist there; the same request may be made again. */
  | { readonly kind: 'unavailable' };

export type Known<T> = { readonly kind: 'known'; readonly value: T } | { readonly kind: 'unknown' };

export interface PaymentProvider {
  readonly name: string;
  /** The instrument, when none but ourselves needs to be asked; null when `issue` must be called (K7). */
  issueLocally(request: InstrumentRequest): PixInstrument | null;
  issue(request: InstrumentRequest): Promise<InstrumentOutcome>;
  /** What became of an `issue` whose outcome is unknown; `null`: the provider has no such instrument. */
  findInstrument(request: InstrumentRequest): Promise<Known<PixInstrument | null>>;
  /** Every Pix that arrived for the txid, in order of payment. */
  receiptsOf(tenant: Tenant, txid: string): Promise<Known<readonly Receipt[]>>;
  /** A Pix that a notification told of, asked for again before anything is credited; null: there is none. */
  findReceipt(tenant: Tenant, endToEndId: string): Promise<Known<Receipt | null>>;
  /** Sends a received Pix back in full. The same `returnId` returns once, however often it is asked. */
  returnReceipt(
    tenant: Tenant,
    back: { endToEndId: string; returnId: string; amount: Minor },
  ): Promise<'accepted' | 'unknown'>;
}

export interface PaymentProviders {
  /** null: no provider is configured for Pix in this mode (E5). */
  forPix(mode: Mode): PaymentProvider | null;
}
