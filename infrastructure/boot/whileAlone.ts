// Work that must count before it adds: alone among all processes for one tenant, on a count that misses nothing.

import { KeyedLock } from '../../application/core/keyedLock.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import { ReadModelsBehind } from '../../application/ports/readModels.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { listEndpoints } from '../../projections/webhookEndpoints/queries.ts';
import { LOCK_CLASS } from '../postgres/leases.ts';
import type { LevelWithLog } from './levelWithLog.ts';

/** Twice the worst case of a read model: beyond it the count could miss one, and the request is refused instead. */
const CATCH_UP_MS = 2_000;

export const whileAlone = (locks: SqlPool, reads: Sql, level: LevelWithLog) => {
  // One at a time in this process, whoever the tenant: the work needs a connection of the same pool, and those who wait for the
  // advisory lock would hold them all.
  const here = new KeyedLock();
  return <T>(tenant: Tenant, work: (count: number) => Promise<T>): Promise<T> =>
    here.run('', () =>
      locks.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
          LOCK_CLASS,
          `endpoints ${tenant.accountId} ${tenant.mode}`,
        ]);
        const { isLevel } = await level(CATCH_UP_MS); // with what the one before us wrote
        if (!isLevel) throw new ReadModelsBehind('the endpoints could not be counted');
        return work((await listEndpoints(reads, tenant)).length);
      }),
    );
};
