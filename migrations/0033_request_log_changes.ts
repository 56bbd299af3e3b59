// The list of users' changes reads an index in its own order, however often users looked at something. Requests of keys are not in it.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE INDEX request_log_of_changes ON operations.request_log (account_id, created_at, id)
      WHERE user_id IS NOT NULL AND method NOT IN ('GET', 'HEAD');`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
