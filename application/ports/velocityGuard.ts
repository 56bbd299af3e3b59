// Limits live charges per hour, exact across all processes (rule E6).
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface VelocityReservation {
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  /** The customer's document, digits and letters only; null: the charge has none, and only the account's limit applies. */
  readonly customer: string | null;
  readonly at: Timestamp;
  /** Limits per hour, at least 1. */
  readonly customerPerHour: number;
  readonly accountPerHour: number;
}

/** `customer`, `account`: whose limit is reached. `running`: a request for the same payment and another customer may still store it. */
export type VelocityOutcome = 'reserved' | 'customer' | 'account' | 'running';

export interface VelocityGuard {
  /**
   * Counts the charge towards the hour before `at`. Idempotent: a payment has one reservation, that of its latest request. Charges that
   * expired, were cancelled or failed at creation don't count.
   */
  reserve(reservation: VelocityReservation): Promise<VelocityOutcome>;
}
