// Checkpoints of whoever follows the log.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA subscriptions;
    CREATE TABLE subscriptions.checkpoints (
      name text PRIMARY KEY,
      version integer NOT NULL,
      store_id text NOT NULL,
      position text COLLATE "C",
      moved_at timestamptz NOT NULL DEFAULT now()
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
