import type { Tenant } from './paymentProvider.ts';

/**
 * Runs work that must count before it adds while no other process runs work for the same tenant and purpose. The next one sees what this
 * one wrote.
 */
export type WithTenantLock = <T>(tenant: Tenant, purpose: string, work: () => Promise<T>) => Promise<T>;
