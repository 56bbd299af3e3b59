// A tenant's lock, as an advisory lock of a transaction.
import type { SqlPool } from '../../application/ports/sql.ts';
import type { WithTenantLock } from '../../application/ports/tenantLock.ts';
import { LOCK_CLASS } from './leases.ts';

export const tenantLock = (db: SqlPool): WithTenantLock => {
  // One at a time in this process, for all tenants together. The work may need a connection of the same pool, and transactions that wait
  // for the advisory lock would otherwise occupy them all.
  let last: Promise<unknown> = Promise.resolve();
  return (tenant, purpose, work) => {
    const mine = () =>
      db.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
          LOCK_CLASS,
          `${purpose} ${tenant.accountId} ${tenant.mode}`,
        ]);
        return work();
      });
    const done = last.then(mine, mine);
    last = done.catch(() => undefined);
    return done;
  };
};
