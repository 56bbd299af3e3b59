// What commands and processes ask of the read model of payments.
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import type { Tenant } from '../paymentProvider.ts';

export interface PaymentReads {
  /** Returns the tenant's payments of these txids, every one that was created before the call. Throws ReadModelsBehind. */
  byTxid(tenant: Tenant, txids: readonly string[]): Promise<ReadonlyMap<string, PaymentId>>;
  /** Returns who created payments on `day` (`yyyy-mm-dd`, UTC, account time) or later. */
  tenantsSince(day: string): Promise<readonly Tenant[]>;
  /**
   * Returns, of `ids`, those that expired, were cancelled or failed without having been paid, and those that were never created: none,
   * where the read model could not catch up in time.
   */
  endedAmong(
    ids: readonly PaymentId[],
  ): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }>;
}
