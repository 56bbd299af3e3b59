// A tenant's lock, as an advisory lock of a transaction.
import { KeyedTurns } from '../../application/ports/keyedTurns.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { WithTenantLock } from '../../application/ports/tenantLock.ts';
import { LOCK_CLASS } from './leases.ts';

/** Transactions at once in this process: half of the pool's connections, because the work may need one of the others. */
const LOCKS_AT_ONCE = 4;
/** Longest wait for another process that holds the lock. */
const LOCK_MS = 2_000;
/** Shorter than the time after which the server ends an idle transaction, and with it the lock. */
const BEAT_MS = 3_000;

export const tenantLock = (db: SqlPool): WithTenantLock => {
  const all = new KeyedTurns(LOCKS_AT_ONCE);
  /** An account's requests wait for each other first, so that it takes one place among all. */
  const ofAccount = new KeyedTurns(1);
  const locked = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_CLASS, name]);
      // If the connection is lost, the transaction rejects.
      const beat = repeating(BEAT_MS, () => tx.query('SELECT'), { onError: () => undefined });
      try {
        return await work();
      } finally {
        await beat.stop();
      }
    });
  return ({ accountId, mode }, purpose, work) =>
    ofAccount.run(accountId, () => all.run('', () => locked(`${purpose} ${accountId} ${mode}`, work)));
};
