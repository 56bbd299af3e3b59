import type { Tenant } from '../../domain/kernel/ids.ts';
/**
 * Runs work exclusively for a tenant and purpose, across all processes. Used for work that counts before it adds. The next holder of the
 * lock sees all writes of this one.
 */
export type WithTenantLock = <T>(tenant: Tenant, purpose: string, work: () => Promise<T>) => Promise<T>;
