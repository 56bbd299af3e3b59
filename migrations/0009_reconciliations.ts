// How far the payments that providers list have been compared with the notifications that arrived (architecture §7, pix.md).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- In account time. Losing it costs nothing that happened within a day: a first comparison begins 24 hours ago.
    CREATE TABLE operations.reconciliations (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      until timestamptz NOT NULL,
      PRIMARY KEY (account_id, mode)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
