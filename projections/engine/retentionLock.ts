// While events are deleted no copy of a read model is compared or built, and the reverse: the one would lack what the other still has.
import type { Sql } from '../../application/ports/sql.ts';

/** One key of two numbers: the class of all of Quita's advisory locks, and this one among them. */
const KEY = "1903520116, hashtext('retention')";

/** Keeps events from being deleted until the session ends. Waits for a deletion that is under way: milliseconds. */
export const holdRetention = async (session: Sql): Promise<void> => {
  await session.query(`SELECT pg_advisory_lock_shared(${KEY})`);
};

/** Returns whether events may be deleted in this transaction: nobody else deletes any, and no copy is compared or built. */
export const mayDelete = async (tx: Sql): Promise<boolean> => {
  const { rows } = await tx.query<{ free: boolean }>(`SELECT pg_try_advisory_xact_lock(${KEY}) AS free`);
  return rows[0]?.free === true;
};
