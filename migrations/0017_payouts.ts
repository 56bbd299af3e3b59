// Data of payouts beside the log: reserved money, the payouts of the last hour, and the sandbox bank's ledger.
import type { Knex } from 'knex';

const FUNDS = `
    -- Money set aside for payouts until the ledger has taken their first event (ADR 0013). Losing rows of the last second lets a wallet be
    -- overdrawn by requests under way, so that they are written before the request is.
    CREATE TABLE operations.payout_reservations (
      payout_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      currency text COLLATE "C" NOT NULL,
      -- Minor units, with the fee.
      taken bigint NOT NULL,
      -- New each time that it is asked for.
      token uuid NOT NULL,
      -- Real time.
      reserved_at timestamptz NOT NULL
    );
    CREATE INDEX payout_reservations_of_wallet ON operations.payout_reservations (account_id, mode, currency);
    CREATE INDEX payout_reservations_by_age ON operations.payout_reservations (reserved_at);

    -- One for each live payout of the last hour. Losing them lets too many pass for an hour (rule M7b).
    CREATE TABLE operations.payouts_of_hour (
      payout_id text COLLATE "C" PRIMARY KEY,
      account_id text COLLATE "C" NOT NULL,
      currency text COLLATE "C" NOT NULL,
      -- Minor units, without the fee.
      amount bigint NOT NULL,
      -- Account time.
      reserved_at timestamptz NOT NULL
    );
    CREATE INDEX payouts_of_hour_of_account ON operations.payouts_of_hour (account_id, reserved_at);

    -- 'reserved', or why not: a limit of the hour is reached ('count', 'sum'; null is no limit), the wallet has too little ('insufficient'),
    -- or the ledger can't tell ('behind'). The same payout has one reservation however often it asks, of the largest amount that it asked for.
    CREATE FUNCTION operations.reserve_payout(
      payout text, account text, of_mode text, of_currency text, of_amount bigint, fee bigint, at timestamptz,
      count_max integer, sum_max bigint, after text
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
      is_behind boolean;
      funds numeric;
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock, and find too much.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.reserve_payout needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      -- One lock for all wallets of an account: the limits count them together.
      PERFORM pg_advisory_xact_lock(hashtextextended('payouts ' || account, 0));
      IF of_mode = 'live' AND count_max <= (
        SELECT count(*) FROM operations.payouts_of_hour h
          WHERE h.account_id = account AND h.reserved_at > since AND h.payout_id <> payout
      ) THEN
        RETURN 'count';
      END IF;
      IF of_mode = 'live' AND sum_max < of_amount + (
        SELECT coalesce(sum(h.amount), 0) FROM operations.payouts_of_hour h
          WHERE h.account_id = account AND h.reserved_at > since AND h.payout_id <> payout AND h.currency = of_currency
      ) THEN
        RETURN 'sum';
      END IF;
      -- One statement, so that checkpoint, balance and entries are of one snapshot: a payout is counted by the balance or by its row.
      SELECT
        (after IS NOT NULL AND coalesce((SELECT c.position < after COLLATE "C" FROM subscriptions.checkpoints c WHERE c.name = 'wallet'), true))
          OR EXISTS (SELECT FROM subscriptions.parked_streams p
            WHERE p.consumer = 'wallet' AND coalesce(p.account_id, account) = account AND coalesce(p.mode, of_mode) = of_mode),
        coalesce((SELECT b.amount FROM rm_wallet.balances b
            WHERE b.account_id = account AND b.mode = of_mode AND b.currency = of_currency AND b.ledger_account = 'merchant_available'), 0)
          - coalesce((SELECT sum(r.taken) FROM operations.payout_reservations r
            WHERE r.account_id = account AND r.mode = of_mode AND r.currency = of_currency AND r.payout_id <> payout
              AND NOT EXISTS (SELECT FROM rm_wallet.entries e WHERE e.stream = 'payout-' || r.payout_id)), 0)
        INTO is_behind, funds;
      IF is_behind THEN
        RETURN 'behind';
      END IF;
      IF of_amount + fee > funds THEN
        RETURN 'insufficient';
      END IF;
      INSERT INTO operations.payout_reservations AS r (payout_id, account_id, mode, currency, taken, token, reserved_at)
        VALUES (payout, account, of_mode, of_currency, of_amount + fee, gen_random_uuid(), clock_timestamp())
        ON CONFLICT (payout_id) DO UPDATE
          SET taken = greatest(r.taken, excluded.taken), token = excluded.token, reserved_at = excluded.reserved_at;
      IF of_mode = 'live' THEN
        INSERT INTO operations.payouts_of_hour AS h (payout_id, account_id, currency, amount, reserved_at)
          VALUES (payout, account, of_currency, of_amount, at)
          ON CONFLICT (payout_id) DO UPDATE SET amount = greatest(h.amount, excluded.amount), reserved_at = excluded.reserved_at;
        -- What counts for nobody any more; an hour longer than it counts, for processes whose clocks differ.
        DELETE FROM operations.payouts_of_hour h WHERE h.account_id = account AND h.reserved_at < since - interval '1 hour';
      END IF;
      RETURN 'reserved';
    END
    $function$;`;

const BANK = `
    CREATE TABLE sandbox_bank.payouts (
      account_id text COLLATE "C" NOT NULL,
      payout_id text COLLATE "C" NOT NULL,
      destination text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      -- processing, confirmed or refused
      status text COLLATE "C" NOT NULL,
      reason text,
      end_to_end_id text COLLATE "C",
      PRIMARY KEY (account_id, payout_id)
    );`;

export async function up(knex: Knex): Promise<void> {
  for (const tables of [FUNDS, BANK]) await knex.raw(tables);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
