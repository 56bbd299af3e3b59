// Lists of requests by status or key read an index in their own order, even for rare statuses.
import type { Knex } from 'knex';

const INDEXES = `
    -- Without the id a list had to be sorted, and the planner read a large account's whole log instead.
    CREATE INDEX request_log_by_status ON operations.request_log (account_id, status, created_at, id);
    CREATE INDEX request_log_by_key ON operations.request_log (account_id, key_fingerprint, created_at, id)
      WHERE key_fingerprint IS NOT NULL;
    DROP INDEX operations.request_log_of_status;
    DROP INDEX operations.request_log_of_key;`;

export const up = async (knex: Knex): Promise<void> => void (await knex.raw(INDEXES));

export const down = (): never => {
  throw new Error('migrations go forward only');
};
