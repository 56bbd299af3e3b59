// What commands ask of the read model of webhook endpoints.
import type { Tenant } from '../paymentProvider.ts';

export interface EndpointReads {
  /** Returns how many endpoints the tenant has, inactive ones included. It misses none that is registered. Throws ReadModelsBehind. */
  count(tenant: Tenant): Promise<number>;
  /** Returns the event names that each active endpoint of the tenant wants. */
  subscriptions(tenant: Tenant): Promise<readonly (readonly string[])[]>;
}
