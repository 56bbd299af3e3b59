// Limits live refunds per hour, exact across all processes (rule M7b).
import type { AccountId, RefundId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface RefundReservation {
  readonly refundId: RefundId;
  readonly accountId: AccountId;
  readonly amount: Minor;
  readonly currency: string;
  readonly at: Timestamp;
  /** null: no limit. */
  readonly countPerHour: number | null;
  /** In minor units of one currency; null: no limit. */
  readonly sumPerHour: Minor | null;
}

export interface RefundGuard {
  /**
   * Counts the refund towards the hour before `at`, or returns the limit that it would exceed. Idempotent: a refund has one reservation,
   * that of its latest request, even if the limit was lowered since. A reservation counts for its hour even if the refund fails.
   */
  reserve(reservation: RefundReservation): Promise<'reserved' | 'count' | 'sum'>;
  /**
   * Takes a reservation back, because its request stored no refund. Call it once for each `reserve` that returned `reserved`. The refund
   * still counts if another request reserved it and may have stored it.
   */
  release(reservation: Pick<RefundReservation, 'refundId' | 'accountId'>): Promise<void>;
}
