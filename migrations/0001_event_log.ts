// The event log in Postgres: one table, one identity, one function that appends a whole flush (architecture §5).
import type { Knex } from 'knex';

const TABLES = `
CREATE SCHEMA event_store;

-- Identity of this log: a checkpoint of another log must never be used on it.
CREATE TABLE event_store.store (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  id text NOT NULL,
  -- Sealed and moved logs and unfinished copies take no events (\`npm run migrate-events\`).
  use text NOT NULL DEFAULT 'inUse' CHECK (use IN ('inUse', 'sealed', 'moved', 'copy')),
  -- The log that this one is or was copied to ('sealed', 'moved') or from ('copy').
  other_id text,
  other_address text,
  CHECK ((use = 'inUse') = (other_id IS NULL) AND (use = 'inUse') = (other_address IS NULL))
);
INSERT INTO event_store.store (id) VALUES (gen_random_uuid()::text);

-- data and metadata are text, not jsonb: jsonb refuses \\u0000 and reorders keys. What was appended comes back.
CREATE TABLE event_store.events (
  position bigint PRIMARY KEY,
  revision bigint NOT NULL,
  recorded_at timestamptz(3) NOT NULL,
  id uuid NOT NULL,
  stream text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  data text NOT NULL,
  metadata text NOT NULL
);
-- What events look like does not change, and no statement asks what is in them.
ALTER TABLE event_store.events
  ALTER position SET STATISTICS 10, ALTER revision SET STATISTICS 10, ALTER recorded_at SET STATISTICS 10,
  ALTER id SET STATISTICS 0, ALTER stream SET STATISTICS 10, ALTER type SET STATISTICS 10,
  ALTER data SET STATISTICS 0, ALTER metadata SET STATISTICS 0;

-- Of each stream its events in order. Names are long and stand in any order: 16 bytes that stand for one are half an index. Two hashes of
-- 64 bits, because one would be shared by two of 1,000,000,000 streams with a probability of 3 in 100.
CREATE UNIQUE INDEX events_of_stream ON event_store.events
  (hashtextextended(stream, 0), hashtextextended(stream, 1), revision);
ALTER INDEX event_store.events_of_stream ALTER 1 SET STATISTICS 10, ALTER 2 SET STATISTICS 10;

-- The one way to find a stream's events by that index; it is inlined.
CREATE FUNCTION event_store.of_stream(name text) RETURNS SETOF event_store.events
LANGUAGE sql STABLE AS $function$
  SELECT * FROM event_store.events e
  WHERE hashtextextended(e.stream, 0) = hashtextextended(name, 0)
    AND hashtextextended(e.stream, 1) = hashtextextended(name, 1) AND e.stream = name
$function$;

-- Whoever follows only these categories must not scan the payments.
CREATE INDEX events_of_rare_categories ON event_store.events (position)
  WHERE split_part(stream, '-', 1) IN ('account', 'keyring', 'webhookEndpoint');
`;

// Members are the appends of one flush, at most one per stream, numbered from 1 in array order. The events of all members are in one
// list: owners[i] is the member of event i, offsets[i] its 0-based sequence in that member.
const APPEND = `
CREATE FUNCTION event_store.append(
  member_streams text[], member_expected bigint[], member_counts bigint[],
  owners bigint[], offsets bigint[], ids uuid[], types text[], datas text[], metadatas text[]
) RETURNS TABLE (outcome text, revision bigint, "position" bigint, recorded_at_ms bigint)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  head bigint;
  heads bigint[];
  bases bigint[];
  repeats bigint[];
  written bigint;
  clock timestamptz(3);
BEGIN
  -- Under any other level the statements below would see a snapshot from before the lock, and give positions twice.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'event_store.append needs read committed' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  PERFORM pg_advisory_xact_lock(5860930411590117);
  -- A statement of its own, so that its snapshot is taken after the lock was granted.
  SELECT coalesce(max(e.position), 0) INTO head FROM event_store.events e;
  clock := clock_timestamp();

  SELECT array_agg(coalesce((
      SELECT e.revision FROM event_store.of_stream(m.stream) e ORDER BY e.revision DESC LIMIT 1
    ), -1) ORDER BY m.number)
  INTO heads FROM unnest(member_streams) WITH ORDINALITY m(stream, number);

  -- The position before each accepted member's first event; -1 for those that write nothing.
  SELECT array_agg(CASE WHEN a.stands = a.expected THEN head + a.before ELSE -1 END ORDER BY a.number),
         coalesce(sum(a.count) FILTER (WHERE a.stands = a.expected), 0)
  INTO bases, written
  FROM (
    SELECT m.*, coalesce(sum(m.count) FILTER (WHERE m.stands = m.expected)
      OVER (ORDER BY m.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint AS before
    FROM unnest(heads, member_expected, member_counts) WITH ORDINALITY m(stands, expected, count, number)
  ) a;

  IF -1 = ANY (bases) THEN
    -- Where the last event of a repeat stands; null when any id differs or is missing.
    SELECT array_agg((
        SELECT CASE WHEN count(*) = m.count THEN max(e.position) END
        FROM unnest(owners, offsets, ids) n(owner, sequence, id)
        CROSS JOIN LATERAL event_store.of_stream(member_streams[m.number]) e
        WHERE n.owner = m.number AND e.revision = m.expected + 1 + n.sequence AND e.id = n.id
          AND m.base = -1 AND m.expected < m.stands
      ) ORDER BY m.number)
    INTO repeats
    FROM unnest(heads, member_expected, member_counts, bases) WITH ORDINALITY m(stands, expected, count, base, number);
  END IF;

  IF written > 0 THEN
    INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
    SELECT bases[n.owner] + n.sequence + 1, member_expected[n.owner] + n.sequence + 1, clock,
           n.id, member_streams[n.owner], n.type, n.data, n.metadata
    FROM unnest(owners, offsets, ids, types, datas, metadatas) n(owner, sequence, id, type, data, metadata)
    WHERE bases[n.owner] >= 0;
    PERFORM pg_notify('quita_events', (head + written)::text);
  END IF;

  RETURN QUERY
    SELECT CASE WHEN m.base >= 0 THEN 'written' WHEN repeats[m.number] IS NOT NULL THEN 'repeated' ELSE 'conflict' END,
           CASE WHEN m.base >= 0 OR repeats[m.number] IS NOT NULL THEN m.expected + m.count ELSE m.stands END,
           CASE WHEN m.base >= 0 THEN m.base + m.count ELSE repeats[m.number] END,
           (extract(epoch FROM clock) * 1000)::bigint
    FROM unnest(heads, member_expected, member_counts, bases) WITH ORDINALITY m(stands, expected, count, base, number)
    ORDER BY m.number;
END
$function$;
`;

// A trigger checks this under the append lock, so that no writer of any version can bypass it.
const USE = `
-- Appends hold the advisory lock when they insert, and the use changes under that lock: after it has changed, no insert is late.
-- A repeat of what is written inserts nothing, and is answered as ever.
CREATE FUNCTION event_store.refuse_unless_in_use() RETURNS trigger
LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  own event_store.store;
BEGIN
  SELECT * INTO own FROM event_store.store;
  -- Whoever makes the copy says of which log.
  IF own.use = 'inUse' OR (own.use = 'copy' AND own.other_id = current_setting('quita.copy_of', true)) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'this event log is not in use: %, %', own.use, own.other_address USING ERRCODE = 'QU001';
END
$function$;

CREATE TRIGGER refuse_unless_in_use BEFORE INSERT ON event_store.events
  FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_unless_in_use();
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(TABLES);
  await knex.raw(APPEND);
  await knex.raw(USE);
}

export async function down(): Promise<void> {
  throw new Error('migrations go forward only: facts are never dropped');
}
