// Reserves money of a wallet for a payout before it is recorded. Exact across all processes (rules Y4, M7b; ADR 0013).
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { Position } from './eventStore.ts';

interface FundsRequest extends Tenant {
  readonly payoutId: PayoutId;
  readonly currency: string;
  readonly amount: Minor;
  readonly fee: Minor;
  /** Account time. */
  readonly at: Timestamp;
  /** Limits for payouts of the account in the hour before `at`: their number, and their sum in one currency; null: no limit. */
  readonly countPerHour: number | null;
  readonly sumPerHour: Minor | null;
  /** The position up to which the ledger must be current; null: the log is empty. */
  readonly after: Position | null;
}

/** Reserved money. */
export interface Reservation extends Tenant {
  readonly payoutId: PayoutId;
  /** Distinguishes reservations of the same payout. */
  readonly token: string;
}

export interface PayoutFunds {
  /**
   * Reserves the amount and the fee, or returns why not. `count`, `sum`: an hourly limit is reached. `insufficient`: the wallet has too
   * little unreserved money. `behind`: the ledger is not current up to `after`, or a stream of the account is parked. Idempotent: a payout
   * has one reservation.
   */
  reserve(request: FundsRequest): Promise<'reserved' | 'count' | 'sum' | 'insufficient' | 'behind'>;
  /** Removes reservations of payouts that are posted in the ledger. */
  forgetPosted(): Promise<void>;
  /** Returns up to 1,000 reservations older than `ageMs` that are not posted in the ledger, oldest first. */
  olderThan(ageMs: number): Promise<readonly Reservation[]>;
  /** Releases the money, unless it was reserved again in the meantime. */
  release(reservation: Reservation): Promise<void>;
}
