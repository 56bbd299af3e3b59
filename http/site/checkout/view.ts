// What a page for the payer is made from.
import type { Instruments } from '../../../domain/charge/instruments.ts';
import type { CheckoutStatus } from './states.ts';

export interface CheckoutView {
  /** Raw id of the payment, the capability in the page's address. */
  readonly rawId: string;
  /** Minor units, a safe integer ≥ 0. */
  readonly amount: number;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly status: CheckoutStatus;
  /** None while no provider has said how to pay. */
  readonly instruments: Instruments;
  /** ISO instant of the account's clock, which in test mode may be ahead of the wall clock. */
  readonly now: string;
  readonly testMode: boolean;
  /** Who is paid. */
  readonly merchantName: string;
  /** SHA-256 of the merchant's image; null: none. */
  readonly logo: string | null;
  /** `#rrggbb` of buttons and links; null: Quita's. */
  readonly color: string | null;
  /** What for, as the merchant described it; null: not said. */
  readonly description: string | null;
  /** Which number of the payer the merchant named, when only its holder may pay; the number itself is never shown (I7). */
  readonly payerLock: 'CPF' | 'CNPJ' | null;
  /** Minor units given back so far of what was paid. */
  readonly refunded: number;
  /** http(s) address of the shop, to go back to when the payment has ended; null: none. */
  readonly returnUrl: string | null;
  /** Whether the payer can have a receipt once it is paid. */
  readonly givesReceipt: boolean;
}

/** Host-relative URL of a logo, whose content never changes. */
export const logoPath = (sha256: string): string => `/pay/logos/${sha256}`;

/** Path of the payment's page; never throws, whatever the id. */
export const pagePath = (rawId: string): string => `/pay/${encodeURIComponent(rawId.toWellFormed())}`;
