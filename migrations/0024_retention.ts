// The progress of the erasure of old personal data (rule L3). Losing it costs another check of old payments.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- The place in the order of creation up to which payments or payouts were looked at.
    CREATE TABLE operations.retention_progress (
      kind text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      created_at timestamptz(3) NOT NULL,
      id text COLLATE "C" NOT NULL,
      PRIMARY KEY (kind, account_id, mode)
    );
    -- Those that could not be erased yet, and when to look again.
    CREATE TABLE operations.retention_deferred (
      kind text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      look_at timestamptz NOT NULL,
      PRIMARY KEY (kind, id)
    );
    CREATE INDEX retention_deferred_due ON operations.retention_deferred (look_at);`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
