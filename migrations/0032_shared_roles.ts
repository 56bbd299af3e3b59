// Several processes share the work of a role, so a role has a lease for each of them (ADR 0020).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE subscriptions.leaderships
      -- The role whose work this process shares with others. Null: one process leads the role of this row alone.
      ADD COLUMN shares text COLLATE "C",
      -- The work that this process can lead.
      ADD COLUMN able text[] NOT NULL DEFAULT '{}';`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
