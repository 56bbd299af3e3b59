// An index for the list of users' changes. Requests of keys are not in it. Building it on a day with requests would delay those of a
// running version. So such days get no index, and for at most 30 days the list reads them without it.
import type { Knex } from 'knex';

const COLUMNS = `(account_id, created_at, id) WHERE user_id IS NOT NULL AND method NOT IN ('GET', 'HEAD')`;

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE INDEX request_log_of_changes ON ONLY operations.request_log ${COLUMNS};
    DO $do$
    DECLARE
      part text;
      has_requests boolean;
    BEGIN
      FOR part IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'operations.request_log'::regclass
      LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM operations.%I)', part) INTO has_requests;
        CONTINUE WHEN has_requests;
        EXECUTE format('CREATE INDEX %I ON operations.%I ', part || '_of_changes', part) || $columns$${COLUMNS}$columns$;
        EXECUTE format('ALTER INDEX operations.request_log_of_changes ATTACH PARTITION operations.%I', part || '_of_changes');
      END LOOP;
    END
    $do$;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
