// Leadership is a lease (architecture §6): who leads says every second that it is alive, by the database's clock.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Beside the advisory lock of the role, which ends with its session: a frozen or unreachable leader's session does not end by itself.
    CREATE TABLE subscriptions.leaderships (
      role text COLLATE "C" PRIMARY KEY,
      -- The server process that holds the lock. Process ids are used again; the start tells them apart.
      pid integer NOT NULL,
      started_at timestamptz NOT NULL,
      renewed_at timestamptz NOT NULL
    ) WITH (fillfactor = 50);`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
