// Secrets of provider connections, claims of received payments, and the circuit breakers of all processes: operational data.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Sealed. Backed up like facts (architecture §1).
    CREATE TABLE operations.connection_secrets (
      connection_id text COLLATE "C" NOT NULL,
      -- client, privateKey or callback
      kind text COLLATE "C" NOT NULL,
      -- Named by an event of the connection.
      version integer NOT NULL,
      key_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL,
      PRIMARY KEY (connection_id, kind, version)
    );

    -- Each received Pix belongs to at most one payment, so that it is never credited twice. Kept forever, backed up like facts.
    CREATE TABLE operations.received_claims (
      connection_id text COLLATE "C" NOT NULL,
      end_to_end_id text COLLATE "C" NOT NULL,
      payment_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (connection_id, end_to_end_id)
    );

    -- Circuit breakers that are not closed, by process. Losing rows only hides a state from operators for some seconds.
    CREATE TABLE operations.connection_circuits (
      connection_id text COLLATE "C" NOT NULL,
      process uuid NOT NULL,
      -- open or halfOpen
      state text COLLATE "C" NOT NULL,
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (connection_id, process)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
