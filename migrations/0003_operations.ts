// Operational data: timers, test clocks, what reactions decide on, notifications of providers, limits, sealed secrets. Losing it costs no
// fact and no money; secrets are backed up like facts (architecture §1).
import type { Knex } from 'knex';

const TIME = `
    -- One row for each thing that falls due later, in account time.
    CREATE TABLE operations.timers (
      kind text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      group_id text COLLATE "C",
      due_at timestamptz NOT NULL,
      -- The payload of the job that the timer becomes.
      payload jsonb NOT NULL,
      -- A first attempt that is held back, of a delivery of this age: due when its turn as a probe comes.
      held boolean NOT NULL DEFAULT false,
      held_since timestamptz,
      PRIMARY KEY (kind, key)
    );
    CREATE INDEX timers_due ON operations.timers (due_at);
    CREATE INDEX timers_of_account ON operations.timers (account_id, mode, due_at);
    CREATE INDEX timers_of_group ON operations.timers (group_id, due_at) WHERE group_id IS NOT NULL;
    CREATE INDEX timers_held ON operations.timers (account_id, mode, group_id) WHERE held;

    -- Accounts whose test clock is ahead. While it is drained, the ordinary due scan leaves the account's test mode alone.
    CREATE TABLE operations.test_clocks (
      account_id text COLLATE "C" PRIMARY KEY,
      offset_seconds bigint NOT NULL,
      draining boolean NOT NULL,
      -- How far the clock jumped, in account time: what is due later is not the drain's.
      drain_until timestamptz NOT NULL DEFAULT 'epoch'
    );`;

const WORK = `
    -- Work that no stream and no read model shows to be missing: messages that were never scheduled (queue fanOut). The job is the
    -- work queue's, which may lose it; this row is not.
    CREATE TABLE operations.owed (
      queue text COLLATE "C" NOT NULL,
      -- The payload of the job, as the text of its jsonb: one payload has one text.
      payload text COLLATE "C" NOT NULL,
      -- 'live/<account>' or 'test/<account>'
      tenant text COLLATE "C" NOT NULL,
      since timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (queue, payload)
    );
    CREATE INDEX owed_since ON operations.owed (queue, since, payload);

    -- What providers told, before anything else is done with it: a payment by its id at the provider, anything else by an id of the
    -- acquirer's. A reference binds one payment.
    CREATE TABLE operations.provider_notifications (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      reference text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL DEFAULT 'payment',
      payment_id text COLLATE "C" NOT NULL,
      raw text NOT NULL,
      received_at timestamptz NOT NULL DEFAULT now(),
      handled_at timestamptz,
      outcome text,
      PRIMARY KEY (account_id, mode, reference)
    );
    CREATE INDEX provider_notifications_unhandled ON operations.provider_notifications (received_at) WHERE handled_at IS NULL;

    -- How far the payments that providers list have been compared with the notifications that arrived.
    -- In account time. Losing it costs nothing that happened within a day: a first comparison begins 24 hours ago.
    CREATE TABLE operations.reconciliations (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      until timestamptz NOT NULL,
      PRIMARY KEY (account_id, mode)
    );`;

const WEBHOOKS = `
    -- The endpoints that the fan-out decides on, under its own checkpoint.
    CREATE TABLE operations.fan_out_endpoints (
      endpoint_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      events text[] NOT NULL
    );
    -- Whose payments ever had a webhookUrl: what the fan-out decides on, under its own checkpoint.
    CREATE TABLE operations.fan_out_webhook_urls (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, mode)
    );

    -- Endpoints, and hosts of payments' own URLs, that failed since they last took something. Losing it costs no fact: it is learnt again.
    CREATE TABLE operations.failing_targets (
      target text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      -- In a row.
      failures integer NOT NULL,
      -- Account time: of the first of them, and when the next first attempt may go as a probe.
      failing_since timestamptz NOT NULL,
      next_probe_at timestamptz NOT NULL,
      last_error text NOT NULL,
      -- Real time.
      changed_at timestamptz NOT NULL DEFAULT now()
    );

    -- Webhook signing secrets, sealed with SECRETS_KEY.
    CREATE TABLE operations.webhook_secrets (
      endpoint_id text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      sealed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (endpoint_id, version)
    );

    -- Which key sealed what is here: starting with another one must be noticed before a delivery fails.
    CREATE TABLE operations.secrets_key_check (one boolean PRIMARY KEY DEFAULT true CHECK (one), sealed bytea NOT NULL);`;

/** Live charges are counted under a lock, so that concurrent requests of any number of processes can't slip through (rule E6). */
const VELOCITY = `
    -- One for each live charge of the last hour. Losing them lets too many pass for an hour.
    CREATE TABLE operations.velocity_reservations (
      payment_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      -- The customer's document, digits and letters alone; null: the charge has none.
      customer text COLLATE "C",
      reserved_at timestamptz NOT NULL
    );
    CREATE INDEX velocity_of_account ON operations.velocity_reservations (account_id, reserved_at);
    CREATE INDEX velocity_of_customer ON operations.velocity_reservations (account_id, customer, reserved_at) WHERE customer IS NOT NULL;

    -- 'reserved', or which limit is reached: 'customer', 'account'. The same payment has one reservation however often it asks.
    CREATE FUNCTION operations.reserve_velocity(
      payment text, account text, who text, at timestamptz, customer_max integer, account_max integer
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock, and count too few.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.reserve_velocity needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      -- One lock for both limits: a customer is always one of the account's.
      PERFORM pg_advisory_xact_lock(hashtextextended('velocity ' || account, 0));
      IF EXISTS (SELECT FROM operations.velocity_reservations v WHERE v.payment_id = payment AND v.reserved_at > since) THEN
        RETURN 'reserved';
      END IF;
      IF who IS NOT NULL AND customer_max <= (
        SELECT count(*) FROM operations.velocity_reservations v WHERE v.account_id = account AND v.customer = who AND v.reserved_at > since
      ) THEN
        RETURN 'customer';
      END IF;
      IF account_max <= (SELECT count(*) FROM operations.velocity_reservations v WHERE v.account_id = account AND v.reserved_at > since) THEN
        RETURN 'account';
      END IF;
      INSERT INTO operations.velocity_reservations (payment_id, account_id, customer, reserved_at) VALUES (payment, account, who, at)
        ON CONFLICT (payment_id) DO UPDATE SET reserved_at = excluded.reserved_at;
      -- What counts for nobody any more; an hour longer than it counts, for processes whose clocks differ.
      DELETE FROM operations.velocity_reservations v WHERE v.account_id = account AND v.reserved_at < since - interval '1 hour';
      RETURN 'reserved';
    END
    $function$;`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw('CREATE SCHEMA operations');
  for (const tables of [TIME, WORK, WEBHOOKS, VELOCITY]) await knex.raw(tables);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
