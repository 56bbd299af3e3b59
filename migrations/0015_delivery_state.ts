// Views of the operational state of deliveries for other modules, so that its tables have one owner (infrastructure/deliveries).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Deliveries of which nothing has happened yet. The read model removes what it takes over.
    CREATE VIEW operations.waiting_deliveries AS SELECT s.* FROM operations.scheduled_deliveries s;
    CREATE VIEW operations.waiting_counts AS
      SELECT account_id, mode, endpoint_id, event_type, sum(deliveries)::bigint AS deliveries FROM operations.scheduled_counts
      GROUP BY account_id, mode, endpoint_id, event_type;

    -- Deliveries that wait for their next attempt. What is held back goes when the next probe of its target succeeds, whichever that is.
    CREATE VIEW operations.delivery_turns AS
      SELECT t.key AS delivery_id, t.account_id, t.mode, t.due_at, t.held,
        CASE WHEN t.held THEN (SELECT min(n.due_at) FROM operations.timers n WHERE n.group_id = t.group_id) ELSE t.due_at END AS goes_at
      FROM operations.timers t WHERE t.kind = 'deliver';

    -- Re-drives that are not done yet, with the bounds of what is left of them. A null filter is whatever it is.
    CREATE VIEW operations.open_redrives AS
      SELECT id, account_id, mode, endpoint_id, event_type, asked_at,
        coalesce(created_from, '-infinity') AS created_from, coalesce(created_to, 'infinity') AS created_to,
        coalesce(after_at, '-infinity') AS after_at, coalesce(after_id, '') AS after_id
      FROM operations.redrives;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
