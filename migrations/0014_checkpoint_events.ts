// Checkpoints store the event at their position, which differs in a log that was restored and has grown again.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Null: not known, of a checkpoint of an earlier version or at a position that holds no event.
    ALTER TABLE subscriptions.checkpoints ADD COLUMN event_id text;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
