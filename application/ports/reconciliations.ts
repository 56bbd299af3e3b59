// Stores the progress of reconciliation: how far the provider's list of payments was compared with notifications, by tenant.
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface Reconciliations {
  /** Returns the time up to which the tenant's payments were compared, in account time, or null if they never were. */
  reconciledUntil(tenant: Tenant): Promise<Timestamp | null>;
  /** Stores the progress durably. Also replaces a later value, which can only come from a wrong clock. */
  saveReconciledUntil(tenant: Tenant, until: Timestamp): Promise<void>;
  /** Returns the tenants whose progress lies between these times. Test clocks that are ahead are taken into account. */
  reconciledBetween(from: Timestamp, to: Timestamp): Promise<readonly Tenant[]>;
}
