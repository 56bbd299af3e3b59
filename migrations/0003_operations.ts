// Operational data: timers, test clocks, what reactions decide on, notifications of providers, sealed secrets. Losing it costs no
// fact and no money; secrets are backed up like facts (architecture §1).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA operations;

    -- One row for each thing that falls due later, in account time.
    CREATE TABLE operations.timers (
      kind text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      group_id text COLLATE "C",
      due_at timestamptz NOT NULL,
      PRIMARY KEY (kind, key)
    );
    CREATE INDEX timers_due ON operations.timers (due_at);
    CREATE INDEX timers_of_account ON operations.timers (account_id, mode, due_at);
    CREATE INDEX timers_of_group ON operations.timers (group_id) WHERE group_id IS NOT NULL;

    -- Accounts whose test clock is ahead. While it is drained, the ordinary due scan leaves the account's test mode alone.
    CREATE TABLE operations.test_clocks (
      account_id text COLLATE "C" PRIMARY KEY,
      offset_seconds bigint NOT NULL,
      draining boolean NOT NULL
    );

    -- The endpoints that the fan-out decides on, under its own checkpoint.
    CREATE TABLE operations.fan_out_endpoints (
      endpoint_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      events text[] NOT NULL
    );

    -- What providers told of Pix that arrived, before anything else is done with it. An end-to-end id binds one payment.
    CREATE TABLE operations.pix_notifications (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      end_to_end_id text COLLATE "C" NOT NULL,
      payment_id text COLLATE "C" NOT NULL,
      raw text NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now(),
      handled_at timestamptz,
      outcome text,
      PRIMARY KEY (account_id, mode, end_to_end_id)
    );
    CREATE INDEX pix_notifications_unhandled ON operations.pix_notifications (received_at) WHERE handled_at IS NULL;

    -- Webhook signing secrets, sealed with SECRETS_KEY.
    CREATE TABLE operations.webhook_secrets (
      endpoint_id text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      sealed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (endpoint_id, version)
    );

    -- Which key sealed what is here: starting with another one must be noticed before a delivery fails.
    CREATE TABLE operations.secrets_key_check (one boolean PRIMARY KEY DEFAULT true CHECK (one), sealed bytea NOT NULL);`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
