// Data of account settings beside the log: the image of the logo, and the refunds of the last hour.
import type { Knex } from 'knex';

const LOGOS = `
    -- An account's logo and the one before it. The log knows them by their SHA-256 alone: they are backed up like secrets.
    CREATE TABLE operations.logos (
      -- Of the bytes, 64 hex digits: the name under which they are served.
      sha256 text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      content_type text COLLATE "C" NOT NULL,
      bytes bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (sha256, account_id)
    );
    CREATE INDEX logos_of_account ON operations.logos (account_id);`;

/** Live refunds are counted under a lock, so that concurrent requests of any number of processes can't exceed the limit (rule M7b). */
const REFUND_LIMITS = `
    -- One for each live refund of the last hour, of accounts that have a limit. Losing them lets too many pass for an hour.
    CREATE TABLE operations.refund_reservations (
      refund_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      currency text COLLATE "C" NOT NULL,
      -- Minor units.
      amount bigint NOT NULL,
      reserved_at timestamptz NOT NULL
    );
    CREATE INDEX refund_reservations_of_account ON operations.refund_reservations (account_id, reserved_at);

    -- 'reserved', or which limit is reached: 'count', 'sum'; null is no limit. The same refund has one reservation however often it asks,
    -- of the largest amount that it asked for.
    CREATE FUNCTION operations.reserve_refund(
      refund text, account text, of_currency text, of_amount bigint, at timestamptz, count_max integer, sum_max bigint
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock, and count too few.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.reserve_refund needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      PERFORM pg_advisory_xact_lock(hashtextextended('refunds ' || account, 0));
      IF EXISTS (
        SELECT FROM operations.refund_reservations r WHERE r.refund_id = refund AND r.reserved_at > since AND r.amount >= of_amount
      ) THEN
        RETURN 'reserved';
      END IF;
      IF count_max <= (
        SELECT count(*) FROM operations.refund_reservations r
          WHERE r.account_id = account AND r.reserved_at > since AND r.refund_id <> refund
      ) THEN
        RETURN 'count';
      END IF;
      IF sum_max < of_amount + (
        SELECT coalesce(sum(r.amount), 0) FROM operations.refund_reservations r
          WHERE r.account_id = account AND r.reserved_at > since AND r.refund_id <> refund AND r.currency = of_currency
      ) THEN
        RETURN 'sum';
      END IF;
      INSERT INTO operations.refund_reservations (refund_id, account_id, currency, amount, reserved_at)
        VALUES (refund, account, of_currency, of_amount, at)
        ON CONFLICT (refund_id) DO UPDATE SET amount = excluded.amount, reserved_at = excluded.reserved_at;
      -- What counts for nobody any more; an hour longer than it counts, for processes whose clocks differ.
      DELETE FROM operations.refund_reservations r WHERE r.account_id = account AND r.reserved_at < since - interval '1 hour';
      RETURN 'reserved';
    END
    $function$;`;

export async function up(knex: Knex): Promise<void> {
  for (const tables of [LOGOS, REFUND_LIMITS]) await knex.raw(tables);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
