// Counts live charges of the last hour, exactly, over all processes (rule E6).
import type { AccountId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface VelocityPlace {
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  /** Stands for the customer's document, never shows it; null: the charge has none, and only the account's limit counts. */
  readonly customer: string | null;
  readonly at: Timestamp;
  /** Places an hour, at least 1. */
  readonly customerPerHour: number;
  readonly accountPerHour: number;
}

export interface VelocityGuard {
  /**
   * A place for the charge, or which limit is reached; then nothing is kept. The same payment takes one place however often it asks.
   * Charges that expired, were cancelled or failed in their creation hold none.
   */
  take(place: VelocityPlace): Promise<'taken' | 'customer' | 'account'>;
}
