// The port to the bank that pays payouts. The outcome of any call may be unknown. Resolve it by asking, never by paying again under another
// id.
import type { ConnectionId, Tenant } from '../../domain/kernel/ids.ts';
import type { Json } from '../../domain/kernel/json.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { PayoutOutcome } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import type { Connected, Known } from './paymentProvider.ts';

export interface PayoutOrder extends Tenant {
  readonly payoutId: PayoutId;
  readonly amount: Minor;
  /** A Pix key. */
  readonly destination: string;
  /** A message for the receiver. */
  readonly note: string | null;
  readonly connectionId: ConnectionId | null;
  /** The merchant's metadata, from which the sandbox reads simulated failures (X6); null in live mode. */
  readonly metadata: { readonly [key: string]: Json } | null;
}

export interface PayoutRail {
  /** Returns the fee that the merchant pays in addition to the amount. */
  feeOf(amount: Minor): Minor;
  /** Pays a payout. Idempotent by its id. */
  pay(order: PayoutOrder): Promise<PayoutOutcome>;
  /** Returns the outcome of a payout. A null value: the bank has no such payout. */
  find(order: PayoutOrder): Promise<Known<Exclude<PayoutOutcome, { kind: 'unknown' }> | null>>;
}

/** A rail for a new payout, and its connection. */
export interface RoutedRail {
  readonly connectionId: ConnectionId | null;
  readonly rail: PayoutRail;
}

export interface PayoutRails {
  /** Returns the rail that takes new payouts of the tenant, or null if none is configured. */
  route(tenant: Tenant): Promise<RoutedRail | null>;
  /** Returns the rail of a payout, or null while its connection is disabled (V5). */
  of(payout: Connected): Promise<PayoutRail | null>;
}

/** Actions of the sandbox bank that merchants control through sandbox routes (rule Y6). */
export interface SandboxPayoutBank {
  /**
   * Decides a pending payout and notifies the gateway, in one durable step. `failure`: why it is refused; null: it is paid. `at`: account
   * time. `late`: pays it even if it was refused before. Returns the outcome of this or an earlier decision, or null if the bank has no
   * such payout.
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
  /** The bank paid a payout that it had reported as failed, so the wallet was debited again. Called at least once for each such payout. */
  confirmedLate(order: Pick<PayoutOrder, 'accountId' | 'mode' | 'payoutId'>): void;
}
