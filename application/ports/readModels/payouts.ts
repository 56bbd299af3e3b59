// Queries on the read model of payouts: requested payouts, and the Pix-outs of cash-out refunds (rule Y2).
import type { AccountId, Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import type { PayoutStatus, PayoutView } from '../../../domain/presentation/payout.ts';

export interface PayoutFilter {
  readonly status: PayoutStatus | null;
  /** Both bounds are inclusive. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
}

export interface PayoutViews {
  /** Returns the payout, or null if the tenant has no such payout. */
  find(tenant: Tenant, id: PayoutId): Promise<PayoutView | null>;
  /** Returns payouts newest first, then by id. Returns null if the tenant has no payout `after`. */
  list(
    tenant: Tenant,
    filter: PayoutFilter,
    page: { readonly after: PayoutId | null; readonly limit: number },
  ): Promise<{ readonly payouts: readonly PayoutView[]; readonly hasMore: boolean } | null>;
}

export interface UnfinishedPayout {
  readonly tenant: Tenant;
  readonly payoutId: PayoutId;
}

/** A payout as shown to operators. */
export interface ListedPayout extends UnfinishedPayout {
  readonly payout: PayoutView;
}

export interface PayoutReads {
  /**
   * Yields requested payouts of all tenants that should be at the bank or are pending there, in pages of `page`. Skips work due during the
   * drain of a test clock, which the drain handles.
   */
  unfinished(before: Timestamp, page: number): AsyncIterable<readonly UnfinishedPayout[]>;
  countAwaitingApproval(): Promise<number>;
  /** Returns the oldest payouts awaiting approval, and their total number, of one account or of all (null). */
  awaitingApproval(
    accountId: AccountId | null,
    limit: number,
  ): Promise<{ readonly payouts: readonly ListedPayout[]; readonly total: number }>;
}
