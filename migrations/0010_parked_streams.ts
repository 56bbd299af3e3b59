// Streams that a follower of the log does not take any more, from an event on that it could not take (architecture §7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE TABLE subscriptions.parked_streams (
      -- A read model, a process, or a copy of a read model that is being built.
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
    -- How often a copy built beside was swapped in. It is part of the compare-and-set: a leader must not go on with what it knew of the
    -- copy before.
    ALTER TABLE subscriptions.checkpoints ADD COLUMN swaps integer NOT NULL DEFAULT 0;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
