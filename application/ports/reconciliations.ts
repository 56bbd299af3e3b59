// How far the payments that a tenant's provider lists have been compared with the notifications that arrived.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Tenant } from './paymentProvider.ts';

export interface Reconciliations {
  /** Account time; null: never compared. */
  reachedBy(tenant: Tenant): Promise<Timestamp | null>;
  /** Durable when it resolves. Replaces what was there: a time from a clock that was wrong must not stay. */
  reached(tenant: Tenant, until: Timestamp): Promise<void>;
}
