// A tenant's lock, as an advisory lock of a transaction.
import { repeating } from '../../application/ports/repeating.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { WithTenantLock } from '../../application/ports/tenantLock.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { LOCK_CLASS } from './leases.ts';

/** Transactions at once in this process: half of the pool's connections, because the work may need one of the others. */
const LOCKS_AT_ONCE = 4;
/** Longest wait for another process that holds the lock. */
const LOCK_MS = 2_000;
/** Shorter than the time after which the server ends an idle transaction, and with it the lock. */
const BEAT_MS = 3_000;

/** Returns a function that runs at most `atOnce` tasks at a time, in the order of their arrival. */
const line = (atOnce: number) => {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};

export const tenantLock = (db: SqlPool): WithTenantLock => {
  const inLine = line(LOCKS_AT_ONCE);
  /** The latest work of each account. An account's requests wait for each other first, so that it takes one place in the line. */
  const latest = new Map<AccountId, Promise<unknown>>();
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
  return ({ accountId, mode }, purpose, work) => {
    const mine = () => inLine(() => locked(`${purpose} ${accountId} ${mode}`, work));
    const done = (latest.get(accountId) ?? Promise.resolve()).then(mine, mine);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (latest.get(accountId) === settled) latest.delete(accountId);
      });
    latest.set(accountId, settled);
    return done;
  };
};
