// What processes owe that nothing else tells of (architecture §7): written with the process's checkpoint, gone when the work is done.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Work that no stream and no read model shows to be missing: messages that were never scheduled (queue fanOut). The job is the
    -- work queue's, which may lose it; this row is not.
    CREATE TABLE operations.owed (
      queue text COLLATE "C" NOT NULL,
      item text COLLATE "C" NOT NULL,
      -- 'live/<account>' or 'test/<account>'
      tenant text COLLATE "C" NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (queue, item)
    );
    CREATE INDEX owed_since ON operations.owed (queue, since, item);`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
