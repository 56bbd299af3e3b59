// Running totals of the hourly limits of payouts, like those of refunds (0026): a decision costs the same at any number of payouts.
import type { Knex } from 'knex';

/** Most payouts whose hour has passed that a decision subtracts at once, unless a limit is reached, and most that it deletes. */
const STEP = 1_000;
const DELETED = 100;

/** SELECT of totals of the account's payouts by currency; that of '' counts all of them. `which` selects payouts `h`. */
const totals = (which: string): string => `
          SELECT coalesce(h.currency, '') AS currency, count(*) AS payouts,
            CASE WHEN h.currency IS NULL THEN 0 ELSE sum(h.amount) END AS amount
          FROM operations.payouts_of_hour h WHERE h.account_id = account AND ${which} GROUP BY ROLLUP (h.currency)`;

const TOTALS = `
    CREATE TABLE operations.payout_totals (
      account_id text COLLATE "C" NOT NULL,
      -- '' is the row of all currencies; its amount is 0.
      currency text COLLATE "C" NOT NULL,
      -- Payouts later than counted_from, which the rows of an account have in common.
      payouts bigint NOT NULL,
      amount bigint NOT NULL,
      counted_from timestamptz NOT NULL,
      PRIMARY KEY (account_id, currency)
    ) WITH (fillfactor = 50);

    CREATE OR REPLACE FUNCTION operations.reserve_payout(
      payout text, account text, of_mode text, of_currency text, of_amount bigint, fee bigint, at timestamptz,
      count_max integer, sum_max bigint, after text
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
      counted timestamptz;
      step timestamptz;
      own operations.payouts_of_hour;
      outcome text;
      is_behind boolean;
      funds numeric;
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock, and find too much.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.reserve_payout needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      -- One lock for all wallets of an account: the limits count them together.
      PERFORM pg_advisory_xact_lock(hashtextextended('payouts ' || account, 0));
      IF of_mode = 'live' THEN
        SELECT t.counted_from INTO counted FROM operations.payout_totals t WHERE t.account_id = account AND t.currency = '';
        IF NOT FOUND OR NOT EXISTS (
          SELECT FROM operations.payouts_of_hour h WHERE h.account_id = account AND h.reserved_at > counted
        ) THEN
          DELETE FROM operations.payout_totals t WHERE t.account_id = account;
          counted := since;
          INSERT INTO operations.payout_totals (account_id, currency, payouts, amount, counted_from)
            SELECT account, g.currency, g.payouts, g.amount, counted FROM (${totals('h.reserved_at > since')}) g;
        END IF;
        LOOP
          SELECT * INTO own FROM operations.payouts_of_hour h WHERE h.payout_id = payout AND h.reserved_at > counted;
          SELECT CASE
              WHEN count_max <= sum(t.payouts) FILTER (WHERE t.currency = '') - (own.payout_id IS NOT NULL)::integer THEN 'count'
              WHEN sum_max < of_amount + coalesce(sum(t.amount) FILTER (WHERE t.currency = of_currency), 0)
                - coalesce(own.amount, 0) THEN 'sum'
              ELSE 'reserved' END
            INTO outcome FROM operations.payout_totals t WHERE t.account_id = account;
          -- Payouts whose hour has passed are subtracted in steps: one of them now, the others only if a limit is reached.
          EXIT WHEN counted >= since OR (outcome = 'reserved' AND step IS NOT NULL);
          SELECT CASE WHEN count(*) < ${STEP} THEN since ELSE max(g.reserved_at) END INTO step FROM (
            SELECT h.reserved_at FROM operations.payouts_of_hour h
              WHERE h.account_id = account AND h.reserved_at > counted AND h.reserved_at <= since
              ORDER BY h.reserved_at FETCH FIRST ${STEP} ROWS WITH TIES) g;
          UPDATE operations.payout_totals t
            SET payouts = t.payouts - coalesce(g.payouts, 0), amount = t.amount - coalesce(g.amount, 0), counted_from = step
            FROM operations.payout_totals o
              LEFT JOIN (${totals('h.reserved_at > counted AND h.reserved_at <= step')}) g ON g.currency = o.currency
            WHERE o.account_id = account AND t.account_id = account AND t.currency = o.currency;
          counted := step;
        END LOOP;
        IF outcome <> 'reserved' THEN
          RETURN outcome;
        END IF;
      END IF;
      -- One statement, so that checkpoint, balance and entries are of one snapshot: a payout is counted by the balance or by its row.
      SELECT
        (after IS NOT NULL
            AND coalesce((SELECT c.position < after COLLATE "C" FROM subscriptions.checkpoints c WHERE c.name = 'wallet'), true))
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
        WITH reserved AS (
          INSERT INTO operations.payouts_of_hour AS h (payout_id, account_id, currency, amount, reserved_at)
            VALUES (payout, account, of_currency, of_amount, greatest(at, counted + interval '1 microsecond'))
            ON CONFLICT (payout_id) DO UPDATE SET amount = greatest(h.amount, excluded.amount), reserved_at = excluded.reserved_at
            RETURNING h.amount)
        INSERT INTO operations.payout_totals AS t (account_id, currency, payouts, amount, counted_from)
          SELECT account, c.currency, CASE WHEN own.payout_id IS NULL THEN 1 ELSE 0 END, c.amount, counted
          FROM reserved r CROSS JOIN LATERAL (VALUES ('', 0), (of_currency, r.amount - coalesce(own.amount, 0))) AS c (currency, amount)
          ON CONFLICT (account_id, currency) DO UPDATE SET payouts = t.payouts + excluded.payouts, amount = t.amount + excluded.amount;
        -- Rows are kept an hour longer than they count, for processes whose clocks differ.
        DELETE FROM operations.payouts_of_hour h WHERE h.payout_id IN (
          SELECT o.payout_id FROM operations.payouts_of_hour o
            WHERE o.account_id = account AND o.reserved_at < least(since - interval '1 hour', counted)
            ORDER BY o.reserved_at LIMIT ${DELETED});
      END IF;
      RETURN 'reserved';
    END
    $function$;`;

export const up = (knex: Knex): Promise<unknown> => knex.raw(TOTALS);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
