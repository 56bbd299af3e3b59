// Jobs and timers carry JSON objects instead of texts that their work takes apart.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- The payload of the job that the timer becomes.
    ALTER TABLE operations.timers ADD COLUMN payload jsonb NOT NULL;
    -- The payload of the job, as the text of its jsonb: one payload has one text.
    ALTER TABLE operations.owed RENAME COLUMN item TO payload;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
