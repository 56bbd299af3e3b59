// How far the payments that a tenant's provider lists have been compared with the notifications that arrived.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Tenant } from './paymentProvider.ts';

export interface Reconciliations {
  /** Account time; null: never compared. */
  reconciledUntil(tenant: Tenant): Promise<Timestamp | null>;
  /** Durable when it resolves. Replaces what was there: a time from a clock that was wrong must not stay. */
  saveReconciledUntil(tenant: Tenant, until: Timestamp): Promise<void>;
  /** Whose payments were compared up to a time between these two, by the account's clock where that is ahead. */
  reconciledBetween(from: Timestamp, to: Timestamp): Promise<readonly Tenant[]>;
}
