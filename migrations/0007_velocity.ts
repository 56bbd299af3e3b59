// How many live charges an account made within the last hour (rule E6): counted under a lock, so that concurrent requests of any
// number of processes can't slip through.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- A place for each live charge of the last hour. Losing them lets too many pass for an hour.
    CREATE TABLE operations.velocity (
      payment_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      -- A keyed hash of the customer's document; null: the charge has none.
      customer text COLLATE "C",
      taken_at timestamptz NOT NULL
    );
    CREATE INDEX velocity_of_account ON operations.velocity (account_id, taken_at);
    CREATE INDEX velocity_of_customer ON operations.velocity (account_id, customer, taken_at) WHERE customer IS NOT NULL;

    -- 'taken', or which limit is reached: 'customer', 'account'. The same payment takes one place however often it asks.
    CREATE FUNCTION operations.take_velocity(
      payment text, account text, who text, at timestamptz, customer_max integer, account_max integer
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock, and count too few.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.take_velocity needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      -- One lock for both limits: a customer is always one of the account's.
      PERFORM pg_advisory_xact_lock(hashtextextended('velocity ' || account, 0));
      IF EXISTS (SELECT FROM operations.velocity v WHERE v.payment_id = payment AND v.taken_at > since) THEN
        RETURN 'taken';
      END IF;
      IF who IS NOT NULL AND customer_max <= (
        SELECT count(*) FROM operations.velocity v WHERE v.account_id = account AND v.customer = who AND v.taken_at > since
      ) THEN
        RETURN 'customer';
      END IF;
      IF account_max <= (SELECT count(*) FROM operations.velocity v WHERE v.account_id = account AND v.taken_at > since) THEN
        RETURN 'account';
      END IF;
      INSERT INTO operations.velocity (payment_id, account_id, customer, taken_at) VALUES (payment, account, who, at)
        ON CONFLICT (payment_id) DO UPDATE SET taken_at = excluded.taken_at;
      -- What counts for nobody any more; an hour longer than it counts, for processes whose clocks differ.
      DELETE FROM operations.velocity v WHERE v.account_id = account AND v.taken_at < since - interval '1 hour';
      RETURN 'taken';
    END
    $function$;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
