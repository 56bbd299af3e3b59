// Restores of PostgreSQL to a state that is older than the log. Until `lookups_until`, each new delivery is looked up before it is sent,
// because it may have been sent before the restore. Losing a row sends messages of the lost time again.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE TABLE operations.restores (
      restored_at timestamptz NOT NULL DEFAULT now(),
      lookups_until timestamptz NOT NULL
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
