// Operational data: timers, test clocks, data for reactions, provider notifications, limits, sealed secrets. Losing it loses no event and
// no money. Secrets are backed up like events (architecture §1).
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
    ALTER TABLE operations.timers ALTER payload SET STATISTICS 0;
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
      since timestamptz NOT NULL DEFAULT now()
    );
    -- A row is there for a moment, and its key in the index until the next vacuum: a payload is a hundred bytes, its hash eight. Should two
    -- that are owed at once ever share one, the second is its job's alone.
    CREATE UNIQUE INDEX owed_work ON operations.owed (hashtextextended(queue || payload, 0));
    CREATE INDEX owed_since ON operations.owed (queue, since);

    -- Notifications of providers, stored before anything else is done with them. The reference is the provider's id of the payment or, of
    -- other kinds, the acquirer's id of what happened. A reference binds one payment.
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
    -- The event types that each webhook endpoint subscribes to, as of the checkpoint of the process webhookFanOut, which decides on them.
    CREATE TABLE operations.webhook_subscriptions (
      endpoint_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      events text[] NOT NULL,
      is_active boolean NOT NULL DEFAULT true
    );
    -- Accounts and modes that have had a payment with a webhookUrl of its own. As of the same checkpoint.
    CREATE TABLE operations.tenants_with_webhook_urls (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, mode)
    );

    -- Deliveries of which nothing has happened yet. They follow from the events of payments and the endpoints at the time; the first thing
    -- that happens to one is the first event of its stream, and with the read model's row of that, its row here goes.
    CREATE TABLE operations.scheduled_deliveries (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      target text COLLATE "C" NOT NULL,
      payment_id text COLLATE "C" NOT NULL,
      -- Of the payment's event that the message tells of.
      payment_revision integer NOT NULL,
      event_type text COLLATE "C" NOT NULL,
      -- Null: it goes to the payment's own URL.
      endpoint_id text COLLATE "C",
      resend integer NOT NULL,
      -- When its first attempt is due, in account time.
      scheduled_at timestamptz NOT NULL,
      -- Of what is counted below.
      combination_hash bigint GENERATED ALWAYS AS
        (hashtextextended(account_id || mode || coalesce(endpoint_id, '') || '/' || event_type, 0)) STORED
    );
    CREATE INDEX scheduled_deliveries_of_account ON operations.scheduled_deliveries (account_id, mode, scheduled_at DESC);
    CREATE INDEX scheduled_deliveries_due ON operations.scheduled_deliveries (scheduled_at);
    CREATE INDEX scheduled_deliveries_of_combination ON operations.scheduled_deliveries (combination_hash, scheduled_at);

    -- How many there are: the sum of both rows of a combination. They are two because those who schedule wait for each other at the first,
    -- for a moment, and must not wait for the projector, which takes the second and keeps it to the end of a batch.
    CREATE TABLE operations.scheduled_counts (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      -- '' for payments' own URLs.
      endpoint_id text COLLATE "C" NOT NULL,
      event_type text COLLATE "C" NOT NULL,
      change text COLLATE "C" NOT NULL CHECK (change IN ('insert', 'delete')),
      -- Below 0 where deleted.
      deliveries bigint NOT NULL,
      PRIMARY KEY (account_id, mode, endpoint_id, event_type, change)
    ) WITH (fillfactor = 70);
    -- Combinations are taken in the order of their keys, so that no two wait for each other.
    CREATE FUNCTION operations.count_scheduled() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
      INSERT INTO operations.scheduled_counts AS c
        SELECT r.account_id, r.mode, coalesce(r.endpoint_id, ''), r.event_type, lower(TG_OP), CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END * count(*)
        FROM changed r GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (account_id, mode, endpoint_id, event_type, change) DO UPDATE SET deliveries = c.deliveries + excluded.deliveries;
      RETURN NULL;
    END
    $function$;
    CREATE TRIGGER count_inserted AFTER INSERT ON operations.scheduled_deliveries REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION operations.count_scheduled();
    CREATE TRIGGER count_deleted AFTER DELETE ON operations.scheduled_deliveries REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION operations.count_scheduled();

    -- Re-drives of dead-lettered deliveries that are not done yet, and how far they have got: an order over (scheduled_at, id).
    CREATE TABLE operations.redrives (
      id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      -- The filter: null is whatever it is.
      endpoint_id text COLLATE "C",
      event_type text COLLATE "C",
      created_from timestamptz,
      created_to timestamptz,
      -- Account time.
      asked_at timestamptz NOT NULL,
      actor text NOT NULL,
      request_id text,
      queued bigint NOT NULL,
      requested bigint NOT NULL DEFAULT 0,
      after_at timestamptz,
      after_id text COLLATE "C",
      -- Real time.
      changed_at timestamptz NOT NULL DEFAULT now()
    );
    -- Targets to which a re-drive has sent its probe: what else it sends there waits while the target keeps failing.
    CREATE TABLE operations.redrive_probes (
      redrive_id text COLLATE "C" REFERENCES operations.redrives ON DELETE CASCADE,
      target text COLLATE "C",
      PRIMARY KEY (redrive_id, target)
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

    -- Webhook signing secrets, sealed under the secrets key that the row names.
    CREATE TABLE operations.webhook_secrets (
      endpoint_id text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      key_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (endpoint_id, version)
    );

    -- Which key sealed what is here: starting with another one must be noticed before a delivery fails.
    CREATE TABLE operations.secrets_key_check (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      key_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL
    );`;

/** Live charges are counted under a lock, so that concurrent requests of any number of processes can't exceed the limit (rule E6). */
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
