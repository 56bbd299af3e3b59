// Reads that find tables of another version, because a copy was just swapped in, fail like reads that are behind.
import { ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import type { LogProgress } from './progress.ts';

/** PostgreSQL error codes: undefined schema, table, column or function, and a prepared statement with other result columns. */
const OTHER_TABLES: readonly unknown[] = ['3F000', '42P01', '42703', '42883', '0A000'];

/** Returns the pool. Its queries throw ReadModelsBehind if they fail because a read model has another version. */
export const refusingOtherVersions = (reads: SqlPool, progress: LogProgress): SqlPool => {
  const explained = async (error: unknown): Promise<unknown> => {
    if (!OTHER_TABLES.includes((error as { readonly code?: unknown }).code)) return error;
    for (const checkpoint of (await readCheckpoints(reads, progress.names)).values())
      progress.heard([checkpoint], checkpoint.position);
    const others = progress.names.filter((name) => progress.isOtherVersion(name));
    return others.length === 0
      ? error
      : new ReadModelsBehind(`${others.join(', ')} have another version`, { cause: error });
  };
  const query: Sql['query'] = (...args) =>
    reads.query<never>(...args).catch(async (error: unknown) => {
      throw await explained(error);
    });
  const transaction: SqlPool['transaction'] = (...args) =>
    reads.transaction(...args).catch(async (error: unknown) => {
      throw await explained(error);
    });
  return { query, transaction };
};
