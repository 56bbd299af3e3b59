// How far the payments that a tenant's provider lists have been compared with the notifications that arrived.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Tenant } from './paymentProvider.ts';

export interface Reconciliations {
  /** Returns up to when the tenant's payments were compared, in account time; null when they never were. */
  reconciledUntil(tenant: Tenant): Promise<Timestamp | null>;
  /** Durable when it resolves. Replaces the former value, be it later: one from a clock that was wrong must not stay. */
  saveReconciledUntil(tenant: Tenant, until: Timestamp): Promise<void>;
  /** Returns the tenants whose payments were compared up to a time between these two, by the account's clock where that is ahead. */
  reconciledBetween(from: Timestamp, to: Timestamp): Promise<readonly Tenant[]>;
}
