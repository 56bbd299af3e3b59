// The bank that pays payouts, as the core needs it. Every call may end unknown: unknown is resolved by asking, never by paying again under
// another id.
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutOutcome } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { Known, Tenant } from './paymentProvider.ts';

export interface PayoutOrder {
  readonly payoutId: PayoutId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly amount: Minor;
  /** A Pix key. */
  readonly destination: string;
  /** For the receiver. */
  readonly note: string | null;
  /** The merchant's: the sandbox reads from it what trouble is wanted (X6). It never goes to a real bank. */
  readonly metadata: { readonly [key: string]: Json };
}

export interface PayoutRail {
  /** What a payout of the amount costs the merchant, on top of it. */
  feeOf(amount: Minor): Minor;
  /** Idempotent by the payout's id. */
  pay(order: PayoutOrder): Promise<PayoutOutcome>;
  /** Returns the outcome of a payout; a null value: the bank has no such payout. */
  find(order: PayoutOrder): Promise<Known<Exclude<PayoutOutcome, { kind: 'unknown' }> | null>>;
}

export interface PayoutRails {
  /** null: the mode has no bank that pays payouts. */
  of(mode: Mode): PayoutRail | null;
}

/** What only the sandbox bank can do, and sandbox routes let a merchant do (rule Y6). */
export interface SandboxPayoutBank {
  /**
   * Decides a payout that the bank works on, and notifies the gateway, durably and at once. `failure`: why it is refused; null: it is paid.
   * `at`: account time. `late`: it is paid even if it was refused before. Returns the outcome, of now or of an earlier decision; null when
   * the bank has no such payout.
   */
  decide(
    tenant: Tenant,
    payoutId: PayoutId,
    failure: string | null,
    at: Timestamp,
    late: boolean,
  ): Promise<'confirmed' | 'refused' | null>;
}

export interface PayoutAlerts {
  /** The bank paid a payout that it had called failed, and it left the wallet again. Called at least once a payout. */
  confirmedLate(order: Pick<PayoutOrder, 'accountId' | 'mode' | 'payoutId'>): void;
}
