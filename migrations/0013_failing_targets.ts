// Endpoints that keep failing, and the first attempts that wait for them (rules W3, W6); test clocks that are worked off only as far
// as they jumped (rule X5).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Endpoints, and hosts of payments' own URLs, that failed since they last took something. Losing it costs no fact: it is learnt again.
    CREATE TABLE operations.failing_targets (
      target text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      -- In a row.
      failures integer NOT NULL,
      -- Account time: of the first of them, and when the next first attempt may go as a probe.
      failing_since timestamptz NOT NULL,
      next_probe_at timestamptz NOT NULL,
      last_error text NOT NULL,
      -- Real time.
      changed_at timestamptz NOT NULL DEFAULT now()
    );

    -- A first attempt that is held back, of a delivery of this age: due when its turn as a probe comes.
    ALTER TABLE operations.timers ADD COLUMN held boolean NOT NULL DEFAULT false, ADD COLUMN held_since timestamptz;
    CREATE INDEX timers_held ON operations.timers (account_id, mode, group_id) WHERE held;
    -- When the next probe of a target comes.
    DROP INDEX operations.timers_of_group;
    CREATE INDEX timers_of_group ON operations.timers (group_id, due_at) WHERE group_id IS NOT NULL;

    -- How far the clock jumped, in account time: what is due later is not the drain's.
    ALTER TABLE operations.test_clocks ADD COLUMN drain_until timestamptz NOT NULL DEFAULT 'epoch';`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
