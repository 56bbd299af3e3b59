// Sets money of a wallet aside for a payout that is about to be recorded, exactly, over all processes (rules Y4, M7b; ADR 0013).
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { Position } from './eventStore.ts';

interface FundsWish {
  readonly payoutId: PayoutId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly currency: string;
  readonly amount: Minor;
  readonly fee: Minor;
  /** Account time. */
  readonly at: Timestamp;
  /** Payouts of the account within the hour before `at`, and their sum in one currency; null: any. */
  readonly countPerHour: number | null;
  readonly sumPerHour: Minor | null;
  /** What the ledger must have taken; null: the log is empty. */
  readonly after: Position | null;
}

/** A row of money that is set aside. */
export interface Reservation {
  readonly payoutId: PayoutId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  /** Tells it from an earlier or a later one of the same payout. */
  readonly token: string;
}

export interface PayoutFunds {
  /**
   * Sets amount and fee aside, or sets nothing aside and returns why: `count`, `sum`: a limit of the hour; `insufficient`: the wallet has
   * too little beside all that is set aside; `behind`: the ledger has not taken `after` yet, or does not follow a stream of the account. A
   * payout has one reservation however often it asks.
   */
  reserve(wish: FundsWish): Promise<'reserved' | 'count' | 'sum' | 'insufficient' | 'behind'>;
  /** Forgets reservations of payouts that the ledger has taken. */
  forgetPosted(): Promise<void>;
  /** Returns reservations that are older and not in the ledger, oldest first, at most 1,000. */
  olderThan(ageMs: number): Promise<readonly Reservation[]>;
  /** Frees the money, unless it was set aside anew meanwhile. */
  release(reservation: Reservation): Promise<void>;
}
