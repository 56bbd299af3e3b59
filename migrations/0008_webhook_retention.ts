// Old webhook deliveries are deleted (ADR 0008). The database itself ensures that nothing else is ever deleted from the log.
import type { Knex } from 'knex';

const DELETE = `
-- Whether the log is an unfinished copy and this session makes it. Nobody knows a position of it yet.
CREATE FUNCTION event_store.is_own_copy() RETURNS boolean
LANGUAGE sql STABLE AS $function$
  SELECT EXISTS (SELECT FROM event_store.store s WHERE s.use = 'copy' AND s.other_id = current_setting('quita.copy_of', true))
$function$;

-- Deletes streams of deliveries, each as a whole, whose last event has the revision given. Gives the ids of those that are gone then, also
-- of those that were gone before. Appends wait for the transaction from the lock on: it should end soon, and not wait for the disk.
CREATE FUNCTION event_store.delete_deliveries(ids text[], revisions bigint[]) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
  head bigint;
  gone text[];
BEGIN
  -- Under any other level the statements below would see a snapshot from before the lock, and miss what was appended meanwhile.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'event_store.delete_deliveries needs read committed' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  -- Old events are not in memory: they are read before the lock is taken, so that no append waits for that.
  PERFORM count(e.recorded_at) FROM unnest(ids) d (id) CROSS JOIN LATERAL event_store.of_stream('webhookDelivery-' || d.id) e;
  PERFORM pg_advisory_xact_lock(5860930411590117);
  IF EXISTS (SELECT FROM event_store.store s WHERE s.use <> 'inUse') AND NOT event_store.is_own_copy() THEN
    RAISE EXCEPTION 'this event log is not in use' USING ERRCODE = 'QU001';
  END IF;
  SELECT coalesce(max(e.position), 0) INTO head FROM event_store.events e;
  -- The event at the head stays until another one follows: its position would be given a second time.
  SELECT array_agg(d.id) INTO gone
  FROM unnest(ids, revisions) d (id, revision)
  LEFT JOIN LATERAL (
    SELECT e.revision, e.position FROM event_store.of_stream('webhookDelivery-' || d.id) e ORDER BY e.revision DESC LIMIT 1
  ) stands ON true
  WHERE stands.revision IS NULL OR (stands.revision = d.revision AND (stands.position < head OR event_store.is_own_copy()));
  DELETE FROM event_store.events e USING unnest(gone) g (id)
  WHERE hashtextextended(e.stream, 0) = hashtextextended('webhookDelivery-' || g.id, 0)
    AND hashtextextended(e.stream, 1) = hashtextextended('webhookDelivery-' || g.id, 1) AND e.stream = 'webhookDelivery-' || g.id;
  RETURN QUERY SELECT unnest(gone);
END
$function$;
`;

// Applies to every deletion, by any statement. It costs appends nothing.
const REFUSE = `
CREATE FUNCTION event_store.refuse_deletion() RETURNS trigger
LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  IF EXISTS (SELECT FROM gone g WHERE split_part(g.stream, '-', 1) <> 'webhookDelivery') THEN
    RAISE EXCEPTION 'facts are never deleted: only streams of deliveries are' USING ERRCODE = 'QU002';
  END IF;
  IF EXISTS (SELECT FROM gone g CROSS JOIN LATERAL event_store.of_stream(g.stream)) THEN
    RAISE EXCEPTION 'a stream is deleted as a whole' USING ERRCODE = 'QU002';
  END IF;
  IF (SELECT max(g.position) FROM gone g) > (SELECT coalesce(max(e.position), 0) FROM event_store.events e)
    AND NOT event_store.is_own_copy() THEN
    RAISE EXCEPTION 'the newest event is never deleted: its position would be given a second time' USING ERRCODE = 'QU002';
  END IF;
  RETURN NULL;
END
$function$;

CREATE TRIGGER refuse_deletion AFTER DELETE ON event_store.events
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_deletion();

CREATE FUNCTION event_store.refuse_truncation() RETURNS trigger
LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  RAISE EXCEPTION 'facts are never deleted' USING ERRCODE = 'QU002';
END
$function$;

CREATE TRIGGER refuse_truncation BEFORE TRUNCATE ON event_store.events
  FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_truncation();
`;

const COUNT = `
-- What was deleted since the database was made, for operators.
CREATE TABLE operations.webhook_retention (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  deleted bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO operations.webhook_retention DEFAULT VALUES;
`;

export async function up(knex: Knex): Promise<void> {
  for (const statements of [DELETE, REFUSE, COUNT]) await knex.raw(statements);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
