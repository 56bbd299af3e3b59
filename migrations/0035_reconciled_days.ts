// Days whose movements were compared with the institution's list (rule V4). Old items that agree with our postings are
// deleted; a day's row says that its postings without an item agreed. An earlier version deletes nothing, and compares only later days.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE TABLE operations.reconciled_days (
      connection_id text COLLATE "C" NOT NULL,
      -- A civil day of São Paulo.
      day date NOT NULL,
      -- kept: some postings were never compared, so all items stay; clearing: items that agree are being deleted; cleared: they are deleted.
      state text COLLATE "C" NOT NULL CHECK (state IN ('kept', 'clearing', 'cleared')),
      PRIMARY KEY (connection_id, day)
    );
    CREATE INDEX reconciled_days_clearing ON operations.reconciled_days (connection_id) WHERE state = 'clearing';
    SELECT operations.set_storage('operations');`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
