// Data about requests: counts per minute by key, account and address, and the request log.
import type { Knex } from 'knex';

const SHARES = `
    -- The minutes of keys, accounts and addresses whose requests are limited (ADR 0010). Losing them lets too many requests pass for a
    -- minute, so they are not written to the write-ahead log.
    CREATE UNLOGGED TABLE operations.request_minutes (
      name text COLLATE "C" PRIMARY KEY,
      began_at timestamptz(3) NOT NULL,
      -- Requests that all processes together may let in so far, or have let in.
      taken bigint NOT NULL
    ) WITH (fillfactor = 50);

    -- Shares of minutes, by name; no row for a minute that was asked for by its beginning and is over. A minute begins with its first
    -- request. All rows are locked in the order of their names, so that no two batches wait for each other.
    CREATE FUNCTION operations.take_request_shares(
      names text[], limits bigint[], begans bigint[], oweds bigint[], waitings bigint[], aheads bigint[]
    ) RETURNS TABLE (name text, began bigint, left_ms bigint, granted bigint, taken bigint)
    LANGUAGE plpgsql VOLATILE AS $function$
    #variable_conflict use_column
    DECLARE
      clock timestamptz(3) := clock_timestamp();
    BEGIN
      INSERT INTO operations.request_minutes (name, began_at, taken)
        SELECT a.name, 'epoch', 0 FROM unnest(names, begans) a(name, began) WHERE a.began = 0 ORDER BY a.name
        ON CONFLICT DO NOTHING;
      RETURN QUERY
        WITH asked AS MATERIALIZED (
          SELECT a.*, m.taken AS before, m.began_at, m.began_at + interval '1 minute' <= clock AS is_over
          FROM unnest(names, limits, begans, oweds, waitings, aheads) a(name, per_minute, began, owed, waiting, ahead)
          JOIN operations.request_minutes m ON m.name = a.name
          ORDER BY a.name FOR UPDATE OF m),
        minute AS (
          SELECT a.name, a.owed, a.waiting, a.ahead,
            CASE WHEN a.is_over THEN clock ELSE a.began_at END AS began_at,
            CASE WHEN a.is_over THEN 0 ELSE a.before END AS before,
            greatest(a.per_minute - a.owed - CASE WHEN a.is_over THEN 0 ELSE a.before END, 0) AS free
          FROM asked a
          WHERE a.began = 0 OR (NOT a.is_over AND a.began = (extract(epoch FROM a.began_at) * 1000)::bigint)),
        share AS (
          SELECT n.*, n.owed + least(n.free, n.waiting + least(n.ahead, ceil(n.free / 4.0)::bigint)) AS granted FROM minute n)
        UPDATE operations.request_minutes m SET began_at = s.began_at, taken = s.before + s.granted
        FROM share s WHERE m.name = s.name
        RETURNING m.name, (extract(epoch FROM m.began_at) * 1000)::bigint,
          (extract(epoch FROM m.began_at + interval '1 minute' - clock) * 1000)::bigint, s.granted, m.taken;
    END
    $function$;`;

const LOG = `
    -- Requests of known callers, for 30 days: a partition for each day of UTC. No bodies and no queries. Written in batches, without
    -- waiting for the disk: a crash of the database loses its last second.
    CREATE TABLE operations.request_log (
      -- Begins with created_at.
      id text COLLATE "C" NOT NULL,
      -- Those that are given here begin with the time as well: such an index is filled at its end.
      request_id text COLLATE "C" NOT NULL,
      -- Empty: an operator of the platform.
      account_id text COLLATE "C" NOT NULL,
      -- Null: of a user, who acts in both modes.
      mode text COLLATE "C",
      method text COLLATE "C" NOT NULL,
      path text COLLATE "C" NOT NULL,
      status integer NOT NULL,
      duration_ms integer NOT NULL,
      -- Whose it is: the first 16 hexadecimal digits of a key's fingerprint, or a user's id.
      key_fingerprint text COLLATE "C",
      user_id text COLLATE "C",
      -- Real time: when it began.
      created_at timestamptz(3) NOT NULL,
      -- The newest position of the event log that its process knew of then: what the request caused is behind it.
      log_position text COLLATE "C",
      PRIMARY KEY (account_id, created_at, id)
    ) PARTITION BY RANGE (created_at);
    CREATE INDEX request_log_of_status ON operations.request_log (account_id, status, created_at);
    CREATE INDEX request_log_of_key ON operations.request_log (account_id, key_fingerprint, created_at)
      WHERE key_fingerprint IS NOT NULL;
    CREATE INDEX request_log_of_request ON operations.request_log (request_id);

    -- Makes the partitions from the day before on, and drops those that are older than they are kept (null: none). It waits two seconds
    -- at most for whoever reads.
    CREATE FUNCTION operations.keep_request_log(today date, days_ahead integer, days_kept integer) RETURNS void
    LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      day date;
      part text;
    BEGIN
      PERFORM set_config('lock_timeout', '2s', true);
      PERFORM pg_advisory_xact_lock(hashtextextended('request log', 0));
      FOR day IN SELECT today + n FROM generate_series(-1, days_ahead) n LOOP
        part := 'request_log_' || to_char(day, 'YYYYMMDD');
        IF to_regclass('operations.' || part) IS NULL THEN
          EXECUTE format('CREATE TABLE operations.%I PARTITION OF operations.request_log FOR VALUES FROM (%L) TO (%L)',
            part, day::text || ' 00:00:00+00', (day + 1)::text || ' 00:00:00+00');
        END IF;
      END LOOP;
      FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'operations.request_log'::regclass
          AND c.relname < 'request_log_' || to_char(today - days_kept, 'YYYYMMDD')
      LOOP
        EXECUTE format('DROP TABLE operations.%I', part);
      END LOOP;
    END
    $function$;
    SELECT operations.keep_request_log((now() AT TIME ZONE 'UTC')::date, 3, 30);`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(SHARES);
  await knex.raw(LOG);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
