// Subscriptions to the log: positions of consumers, parked streams, and leaders (architecture §6, §7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA subscriptions;

    CREATE TABLE subscriptions.checkpoints (
      -- A read model, a process, or a copy of a read model that is being built.
      name text PRIMARY KEY,
      version integer NOT NULL,
      store_id text NOT NULL,
      position text COLLATE "C",
      -- How often a copy built beside was swapped in. It is part of the compare-and-set: a leader must not go on with what it knew of the
      -- copy before.
      swaps integer NOT NULL DEFAULT 0,
      moved_at timestamptz NOT NULL DEFAULT now()
    );

    -- Streams that a consumer does not take any more, from an event on that it could not take.
    CREATE TABLE subscriptions.parked_streams (
      consumer text COLLATE "C" NOT NULL,
      stream text COLLATE "C" NOT NULL,
      -- Null when neither the event nor the first one of its stream tells.
      account_id text COLLATE "C",
      mode text COLLATE "C",
      -- Of the first event that was not taken.
      revision integer NOT NULL,
      event_id text NOT NULL,
      event_type text NOT NULL,
      error text NOT NULL,
      parked_at timestamptz NOT NULL DEFAULT now(),
      -- An operator asked for it to be taken up again; null: nobody did, or it was parked again.
      retry_asked_at timestamptz,
      PRIMARY KEY (consumer, stream)
    );
    CREATE INDEX ON subscriptions.parked_streams (consumer) WHERE retry_asked_at IS NOT NULL;

    -- Leadership is a lease: who leads says every second that it is alive, by the database's clock. It stands beside the advisory lock of
    -- the role, which ends with its session: a frozen or unreachable leader's session does not end by itself.
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
