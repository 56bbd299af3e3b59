import type { Tenant } from './paymentProvider.ts';

/**
 * Runs work that must count before it adds: alone among all processes, for one tenant and purpose. Whoever comes next begins after what
 * this one wrote.
 */
export type WithTenantLock = <T>(tenant: Tenant, purpose: string, work: () => Promise<T>) => Promise<T>;
