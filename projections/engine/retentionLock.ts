// Prevents deleting events while a copy of a read model is compared or built, and vice versa. Otherwise the two would differ.
import type { Sql } from '../../application/ports/sql.ts';

/** Advisory lock key of two numbers: the class of all of Quita's locks, and this lock. */
const KEY = "1903520116, hashtext('retention')";

/** Prevents deletions until the session ends. Blocks until a running deletion ends, which takes milliseconds. */
export const holdRetention = async (session: Sql): Promise<void> => {
  await session.query(`SELECT pg_advisory_lock_shared(${KEY})`);
};

/** Returns whether this transaction may delete events: no other deletion runs, and no copy is compared or built. */
export const mayDelete = async (tx: Sql): Promise<boolean> => {
  const { rows } = await tx.query<{ free: boolean }>(`SELECT pg_try_advisory_xact_lock(${KEY}) AS free`);
  return rows[0]?.free === true;
};
