// A database with one read model whose projector a test controls.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { createFirstCheckpoint } from '../../projections/engine/checkpoints.ts';
import { liveSchema, type Projection } from '../../projections/engine/projection.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { migratedDatabase } from '../world/postgres.ts';

/** An event as a read model takes it. */
export type Taken = Pick<LoggedEvent, 'account' | 'mode' | 'position'> & {
  readonly category: string;
  readonly stream: string;
  readonly subject: string;
  readonly revision: number;
  readonly event: unknown;
};

export interface LawDatabase {
  readonly pool: SqlPool;
  /** Applies the events and moves the checkpoint, as a projector does. */
  project(events: readonly Taken[], to: string): Promise<void>;
  /** Returns the balances of the wallet by ledger account. */
  balances(account: AccountId): Promise<{ readonly [ledgerAccount: string]: number }>;
  close(): Promise<void>;
}

export const lawDatabase = async (projection: Projection): Promise<LawDatabase> => {
  const database = await migratedDatabase();
  const pool = new PgPool(connectionConfig(database.connectionString, 'law'), 4, () => undefined);
  const schema = liveSchema(projection.name);
  await createSchema(pool, projection, schema);
  await createFirstCheckpoint(pool, { name: projection.name, version: projection.version, storeId: 'law' });
  const writer = projection.writer(schema);
  return {
    pool,
    project: (events, to) =>
      pool.transaction(async (tx) => {
        await writer.apply(events as unknown as readonly LoggedEvent[], tx);
        await tx.query('UPDATE subscriptions.checkpoints SET position = $2 WHERE name = $1', [projection.name, to]);
      }),
    balances: async (account) => {
      const { rows } = await pool.query<{ ledger_account: string; amount: number }>(
        `SELECT ledger_account, amount FROM ${schema}.balances WHERE account_id = $1`,
        [account],
      );
      return Object.fromEntries(rows.map(({ ledger_account, amount }) => [ledger_account, amount]));
    },
    close: async () => {
      await pool.close();
      await database.drop();
    },
  };
};
