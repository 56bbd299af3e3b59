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
}

/** Path of the payment's page; never throws, whatever the id. */
export const pagePath = (rawId: string): string => `/pay/${encodeURIComponent(rawId.toWellFormed())}`;
