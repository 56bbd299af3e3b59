// Data keys, which seal personal data in events. Each is derived from a secret and a random salt of its owner, which is stored together
// with the first event that the key seals. Without its salt, a key is gone (ADR 0017).
import type { Knex } from 'knex';

const TABLE = `
CREATE SCHEMA privacy;

-- Secrets of 256 bits, sealed by a secrets key. The newest one is used for new data keys.
CREATE TABLE privacy.data_secrets (
  id int PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL
);

-- By owner: a payment's or payout's id. Losing these tables loses the personal data of all payments, but no money.
CREATE TABLE privacy.data_keys (
  owner text COLLATE "C" PRIMARY KEY,
  -- Null: destroyed.
  secret_id int,
  salt bytea,
  destroyed_at timestamptz,
  CHECK ((secret_id IS NULL) = (salt IS NULL) AND (salt IS NULL) = (destroyed_at IS NOT NULL))
);
-- Keys are found by their owner only.
ALTER TABLE privacy.data_keys ALTER owner SET STATISTICS 10, ALTER salt SET STATISTICS 0;
`;

// The same as in 0001_event_log, but a member may have a new key. It is stored if the member's events are. An append whose key's owner
// has a key already is refused like one that expects another revision: no reader would find the key of its events.
const APPEND = `
DROP FUNCTION event_store.append(text[], bigint[], bigint[], bigint[], bigint[], uuid[], text[], text[], text[]);

CREATE FUNCTION event_store.append(
  member_streams text[], member_expected bigint[], member_counts bigint[],
  owners bigint[], offsets bigint[], ids uuid[], types text[], datas text[], metadatas text[],
  key_members bigint[] DEFAULT NULL, key_owners text[] DEFAULT NULL, key_secrets bigint[] DEFAULT NULL, key_salts bytea[] DEFAULT NULL
) RETURNS TABLE (outcome text, revision bigint, "position" bigint, recorded_at_ms bigint)
LANGUAGE plpgsql VOLATILE AS $function$
#variable_conflict use_column
DECLARE
  head bigint;
  heads bigint[];
  -- The expected revisions; -2, which no stream has, where the append is refused for its key.
  wanted bigint[] := member_expected;
  stored bigint;
  refused bigint;
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

  IF key_members IS NOT NULL THEN
    INSERT INTO privacy.data_keys (owner, secret_id, salt)
    SELECT k.owner, k.secret, k.salt FROM unnest(key_members, key_owners, key_secrets, key_salts) k(member, owner, secret, salt)
    WHERE heads[k.member] = member_expected[k.member] ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS stored = ROW_COUNT;
    IF stored < cardinality(key_members) THEN
      FOR refused IN
        SELECT k.member FROM unnest(key_members, key_owners, key_salts) k(member, owner, salt)
        LEFT JOIN privacy.data_keys d ON d.owner = k.owner
        WHERE heads[k.member] = member_expected[k.member] AND d.salt IS DISTINCT FROM k.salt
      LOOP
        wanted[refused] := -2;
      END LOOP;
    END IF;
  END IF;

  -- The position before each accepted member's first event; -1 for those that write nothing.
  SELECT array_agg(CASE WHEN a.stands = a.expected THEN head + a.before ELSE -1 END ORDER BY a.number),
         coalesce(sum(a.count) FILTER (WHERE a.stands = a.expected), 0)
  INTO bases, written
  FROM (
    SELECT m.*, coalesce(sum(m.count) FILTER (WHERE m.stands = m.expected)
      OVER (ORDER BY m.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint AS before
    FROM unnest(heads, wanted, member_counts) WITH ORDINALITY m(stands, expected, count, number)
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

// The body of a callback is sealed with a key of its own. Null: the key was destroyed. The claims of other notifications were never read.
const NOTIFIED = `
ALTER TABLE operations.provider_callbacks
  ADD COLUMN key_id text COLLATE "C", ADD COLUMN sealed bytea, ADD CHECK ((key_id IS NULL) = (sealed IS NULL));
ALTER TABLE operations.provider_notifications DROP COLUMN raw;
`;

export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(TABLE);
  await knex.raw(APPEND);
  await knex.raw(NOTIFIED);
};

export const down = (): never => {
  throw new Error('migrations go forward only');
};
