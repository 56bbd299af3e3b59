// Counts live charges of the last hour, exactly, over all processes (rule E6).
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface VelocityReservation {
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  /** The customer's document, digits and letters alone; null: the charge has none, and only the account's limit counts. */
  readonly customer: string | null;
  readonly at: Timestamp;
  /** Reservations an hour, at least 1. */
  readonly customerPerHour: number;
  readonly accountPerHour: number;
}

export interface VelocityGuard {
  /**
   * Reserves one of the charges of the hour before `at`, or reserves none and returns whose limit is reached. A payment has one
   * reservation however often it asks. Charges that expired, were cancelled or failed in their creation have none.
   */
  reserve(reservation: VelocityReservation): Promise<'reserved' | 'customer' | 'account'>;
}
