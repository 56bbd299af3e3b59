// Serializes changes of the sandbox bank's books about one object.
import type { Sql } from '../../../application/ports/sql.ts';

/** Waits for other transactions that locked the same name, and locks it until the end of this one. */
export const lockUntilEnd = async (tx: Sql, name: string): Promise<void> => {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
};
