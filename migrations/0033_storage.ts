// Vacuum settings of each table, so that every server treats the tables alike. Before, only the embedded database had them.
import type { Knex } from 'knex';

const FUNCTION = `
    -- Sets how the tables of a schema are vacuumed: after 5 % of the rows changed or came, because queues, leases, timers and counters
    -- change all the time. Statistics age more slowly: each analysis reads 30,000 rows, which was a sixth of the work for webhooks.
    -- Tables that have settings of their own keep them.
    CREATE FUNCTION operations.set_storage(of_schema text) RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      unset regclass;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('storage of ' || of_schema, 0));
      FOR unset IN SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = of_schema AND c.relkind = 'r' AND NOT EXISTS (
          SELECT FROM unnest(c.reloptions) o (option) WHERE o.option LIKE 'autovacuum_vacuum_scale_factor=%')
      LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05,
          autovacuum_analyze_scale_factor = 0.5)', unset);
      END LOOP;
    END
    $function$;`;

const SETTINGS = `
    -- The log only grows, and old deliveries go. New events are frozen soon and in small steps: they never change. A vacuum that removes
    -- deliveries reads the indexes as a whole, so it waits for 2 % of them.
    ALTER TABLE event_store.events SET (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 500000,
      autovacuum_freeze_min_age = 0, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.5);
    SELECT operations.set_storage(nspname) FROM pg_namespace
      WHERE nspname IN ('event_store', 'subscriptions', 'operations', 'sandbox_bank', 'audit', 'privacy', 'jobs') OR nspname ~ '^rm_';`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [FUNCTION, SETTINGS]) await knex.raw(part);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
