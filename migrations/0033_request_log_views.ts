// Lists of requests without views of pages, and of users' changes, read an index in their own order, however many pages were viewed.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE INDEX request_log_without_views ON operations.request_log (account_id, created_at, id)
      WHERE method NOT IN ('GET', 'HEAD') OR path NOT LIKE '/dashboard%';
    CREATE INDEX request_log_of_changes ON operations.request_log (account_id, created_at, id)
      WHERE user_id IS NOT NULL AND method NOT IN ('GET', 'HEAD');`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
