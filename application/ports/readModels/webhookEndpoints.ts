// Commands' queries on the read model of webhook endpoints.

import type { Tenant } from '../../../domain/kernel/ids.ts';
export interface EndpointReads {
  /** Returns the number of the tenant's endpoints, inactive ones included. The count is never stale. Throws ReadModelsBehind. */
  count(tenant: Tenant): Promise<number>;
  /** Returns the subscribed event names of each active endpoint of the tenant. */
  subscriptions(tenant: Tenant): Promise<readonly (readonly string[])[]>;
}
