// Consumers that are divided by account: a checkpoint for each partition (ADR 0021).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE subscriptions.checkpoints
      -- The consumer whose partition this is. Null: a consumer, or a copy of a read model.
      ADD COLUMN consumer text COLLATE "C",
      -- Number of partitions, which then have the positions. Null: the consumer is not divided.
      ADD COLUMN partitions integer CHECK (partitions BETWEEN 1 AND 64);

    -- A copy that is swapped in has one position, so the partitions end with the copy before, also if an older program built the new one.
    CREATE FUNCTION subscriptions.end_partitions() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
      IF TG_WHEN = 'BEFORE' THEN
        NEW.partitions := NULL;
        RETURN NEW;
      END IF;
      DELETE FROM subscriptions.checkpoints WHERE consumer = OLD.name;
      RETURN NULL;
    END
    $function$;
    -- Moves don't name the column, so they never call it.
    CREATE TRIGGER begin_undivided BEFORE UPDATE OF swaps ON subscriptions.checkpoints
      FOR EACH ROW WHEN (OLD.partitions IS NOT NULL) EXECUTE FUNCTION subscriptions.end_partitions();
    CREATE TRIGGER end_partitions AFTER UPDATE OF swaps OR DELETE ON subscriptions.checkpoints
      FOR EACH ROW WHEN (OLD.partitions IS NOT NULL) EXECUTE FUNCTION subscriptions.end_partitions();`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
