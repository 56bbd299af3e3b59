// Whether this log is the one in use (`npm run migrate-events`). Held by a trigger under the append lock, so that no writer of any
// version can pass it: sealed, moved away, and unfinished copies take no events.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE event_store.store
      ADD COLUMN use text NOT NULL DEFAULT 'inUse' CHECK (use IN ('inUse', 'sealed', 'moved', 'copy')),
      -- The log that this one is or was copied to ('sealed', 'moved') or from ('copy').
      ADD COLUMN other_id text,
      ADD COLUMN other_address text,
      ADD CHECK ((use = 'inUse') = (other_id IS NULL) AND (use = 'inUse') = (other_address IS NULL));

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
      FOR EACH STATEMENT EXECUTE FUNCTION event_store.refuse_unless_in_use();`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
