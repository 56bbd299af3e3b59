// Timers of a large group are fired a page at a time (architecture §7). A firing leaves alone the timers that are set after it.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE operations.timers ADD COLUMN set_at timestamptz NOT NULL DEFAULT now();
    -- Groups whose timers are being fired. Timers that were set later keep their time.
    CREATE TABLE operations.group_firings (
      kind text COLLATE "C" NOT NULL,
      group_id text COLLATE "C" NOT NULL,
      -- 'live', 'test' or 'any'
      mode text COLLATE "C" NOT NULL,
      fired_at timestamptz NOT NULL DEFAULT now(),
      -- The next page begins at this due time.
      due_from timestamptz NOT NULL DEFAULT 'epoch',
      -- When the latest page was fired, so that groups take turns.
      paged_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, group_id, mode)
    )`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
