// Counts live refunds of the last hour, exactly, over all processes (rule M7b).
import type { AccountId, RefundId } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface RefundReservation {
  readonly refundId: RefundId;
  readonly accountId: AccountId;
  readonly amount: Minor;
  readonly currency: string;
  readonly at: Timestamp;
  /** null: any number. */
  readonly countPerHour: number | null;
  /** Minor units of one currency; null: any sum. */
  readonly sumPerHour: Minor | null;
}

export interface RefundGuard {
  /**
   * Reserves one of the refunds of the hour before `at`, or reserves none and returns which limit it would exceed. A refund has one
   * reservation however often it asks. What was reserved counts for its hour, whatever becomes of the refund.
   */
  reserve(reservation: RefundReservation): Promise<'reserved' | 'count' | 'sum'>;
}
