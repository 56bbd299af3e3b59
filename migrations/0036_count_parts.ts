// The counts of scheduled deliveries in parts, so that connections that schedule for one endpoint rarely wait for each other. An earlier
// version needs no change: it reads sums, and the triggers write.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE operations.scheduled_counts ADD COLUMN part smallint NOT NULL DEFAULT 0,
      DROP CONSTRAINT scheduled_counts_pkey, ADD PRIMARY KEY (account_id, mode, endpoint_id, event_type, change, part);
    CREATE OR REPLACE FUNCTION operations.count_scheduled() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
      INSERT INTO operations.scheduled_counts AS c (account_id, mode, endpoint_id, event_type, change, part, deliveries)
        SELECT r.account_id, r.mode, coalesce(r.endpoint_id, ''), r.event_type, lower(TG_OP), pg_backend_pid() % 16,
          CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END * count(*)
        FROM changed r GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (account_id, mode, endpoint_id, event_type, change, part) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
      RETURN NULL;
    END
    $function$;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
