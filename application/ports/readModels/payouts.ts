// Payouts as the read model shows them: those that were requested, and the Pix-outs of cash-out refunds (rule Y2).
import type { AccountId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import type { PayoutStatus, PayoutView } from '../../../domain/presentation/payout.ts';
import type { Tenant } from '../paymentProvider.ts';

export interface PayoutFilter {
  readonly status: PayoutStatus | null;
  /** Both bounds included. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
}

export interface PayoutViews {
  /** Returns null when the tenant has none such. */
  find(tenant: Tenant, id: PayoutId): Promise<PayoutView | null>;
  /** Returns payouts newest first, then by id; null: `after` is none of the tenant's. */
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

/** A payout as operators are shown it. */
export interface ListedPayout extends UnfinishedPayout {
  readonly payout: PayoutView;
}

export interface PayoutReads {
  /**
   * Yields requested payouts of all tenants that the bank should have by now, or has and has not ended, `page` at a time. While a test
   * clock is being drained, what is due by it is left to the drain.
   */
  unfinished(before: Timestamp, page: number): AsyncIterable<readonly UnfinishedPayout[]>;
  countAwaitingApproval(): Promise<number>;
  /** Returns the oldest requested payouts that wait for an approval, and how many do; of one account, or of all (null). */
  awaitingApproval(
    accountId: AccountId | null,
    limit: number,
  ): Promise<{ readonly payouts: readonly ListedPayout[]; readonly total: number }>;
}
