// Processes announce their appends after the commit (infrastructure/eventStore/postgres/announcements.ts). event_store.append notifies only
// for those of an earlier version, which don't turn it off.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    DO $do$
    DECLARE
      was text := pg_get_functiondef('event_store.append'::regproc);
      becomes text := replace(was, '(head + written)::text);',
        '(head + written)::text) WHERE current_setting(''quita.append_notifies'', true) IS DISTINCT FROM ''off'';');
    BEGIN
      IF becomes = was THEN RAISE EXCEPTION 'event_store.append is not the one that was expected'; END IF;
      EXECUTE becomes;
    END
    $do$`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
