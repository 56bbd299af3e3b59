import type { Tenant } from '../../domain/kernel/ids.ts';
/**
 * Runs work exclusively for a tenant and purpose, across all processes. Used for work that counts before it adds. The next holder of the
 * lock sees all writes of this one. Rejects without calling `work` if another process holds the lock for too long; a retry is safe.
 */
export type WithTenantLock = <T>(tenant: Tenant, purpose: string, work: () => Promise<T>) => Promise<T>;
