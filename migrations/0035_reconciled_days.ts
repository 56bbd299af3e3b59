// Days whose old listed items may be deleted if they agree with Quita's postings (rule V4, projections/providerMovements/oldItems.ts). An
// earlier version deletes nothing and compares only later days, but its reports of such a day show the deleted items as missing.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE TABLE operations.reconciled_days (
      connection_id text COLLATE "C" NOT NULL,
      -- A civil day of São Paulo.
      day date NOT NULL,
      -- judging: its postings are looked at; kept: one was never compared, so all items stay; clearing: items that agree are being deleted;
      -- cleared: they are deleted.
      state text COLLATE "C" NOT NULL CHECK (state IN ('judging', 'kept', 'clearing', 'cleared')),
      -- Postings or items up to here were looked at.
      looked_until timestamptz NOT NULL DEFAULT '-infinity',
      PRIMARY KEY (connection_id, day)
    );
    CREATE INDEX reconciled_days_open ON operations.reconciled_days (connection_id) WHERE state IN ('judging', 'clearing');
    SELECT operations.set_storage('operations');`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
