// The data of a page for payers.
import type { Instruments } from '../../../domain/charge/instruments.ts';
import type { CheckoutStatus } from './states.ts';

export interface CheckoutView {
  /** Raw id of the payment: the capability in the page's address. */
  readonly rawId: string;
  /** Minor units, a safe integer ≥ 0. */
  readonly amount: number;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly status: CheckoutStatus;
  /** Empty until a provider has sent payment instructions. */
  readonly instruments: Instruments;
  /** ISO instant of the account's clock, which in test mode can be ahead of the wall clock. */
  readonly now: string;
  readonly testMode: boolean;
  readonly merchantName: string;
  /** SHA-256 of the merchant's image, or null if absent. */
  readonly logo: string | null;
  /** `#rrggbb` of buttons and links, or null for Quita's color. */
  readonly color: string | null;
  /** The merchant's description of the charge, or null. */
  readonly description: string | null;
  /** The kind of tax id whose holder alone may pay, or null. The number itself is never shown (I7). */
  readonly payerLock: 'CPF' | 'CNPJ' | null;
  /** Minor units refunded so far. */
  readonly refunded: number;
  /** http(s) URL of the shop for the link back after the payment has ended, or null. */
  readonly returnUrl: string | null;
  /** Whether the payer can get a receipt after payment. */
}

/** Returns the host-relative URL of a logo. Its content never changes. */
export const logoPath = (sha256: string): string => `/pay/logos/${sha256}`;

/** Returns the path of a payment's page. Never throws. */
export const pagePath = (rawId: string): string => `/pay/${encodeURIComponent(rawId.toWellFormed())}`;
