// A recovered endpoint's deliveries are released a page at a time, at the time of the recovery (architecture §7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- The group's timers become due at this account time.
    ALTER TABLE operations.group_firings ADD COLUMN due_at timestamptz NOT NULL DEFAULT 'epoch';
    -- Groups with timers that are still to be fired. All timers of a group belong to one account, and those of an endpoint have one mode.
    CREATE VIEW operations.fired_groups AS
      SELECT f.kind, f.group_id, first.account_id, first.mode FROM operations.group_firings f CROSS JOIN LATERAL (
        SELECT t.account_id, t.mode FROM operations.timers t
        WHERE t.kind = f.kind AND t.group_id = f.group_id AND (f.mode = 'any' OR t.mode = f.mode) AND t.due_at > f.due_at
          AND t.set_at <= f.fired_at
        LIMIT 1) first;
    -- For the table of 0038.
    SELECT operations.set_storage('operations');`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
