// Caller data that processes may cache: operational data, which is rebuilt if lost (ADR 0009).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- One row. Each change of what authentication may remember is the next version.
    CREATE TABLE operations.access_changes (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      version bigint NOT NULL,
      -- The accounts of the last changes, the newest last.
      accounts text[] NOT NULL
    );
    INSERT INTO operations.access_changes (version, accounts) VALUES (0, '{}');

    -- Processes that answer from what they remember, each with the version as of which that holds.
    CREATE TABLE operations.access_leases (
      process text COLLATE "C" PRIMARY KEY,
      version bigint NOT NULL,
      -- How long a process may go on without another renewal.
      lease_ms integer NOT NULL
    );

    -- When each API key was last used, to the minute. A key without a row was not used yet.
    CREATE TABLE operations.api_key_uses (
      key_id text COLLATE "C" PRIMARY KEY,
      last_used_at timestamptz NOT NULL
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
