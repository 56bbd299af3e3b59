// Running totals of the hourly limits of charges and refunds, so that a decision costs the same for 10 and for 1,000,000 an hour. The rows
// of the hour stay: the total counts exactly those later than `counted_from`, and each is subtracted once, when its hour has passed. A
// process of an earlier version calls the same functions; places that it frees itself stay counted until the account has had an idle hour.
import type { Knex } from 'knex';

/** Most reservations that a decision subtracts or deletes at once, unless the limit is reached. */
const STEP = 1_000;
const DELETED = 100;

const VELOCITY = `
    CREATE TABLE operations.velocity_totals (
      account_id text COLLATE "C" PRIMARY KEY,
      -- Reservations later than counted_from.
      charges bigint NOT NULL,
      counted_from timestamptz NOT NULL,
      -- Of the hour's reservations, those up to here were last looked through for charges that ended.
      checked_until timestamptz NOT NULL DEFAULT '-infinity'
    ) WITH (fillfactor = 50);

    CREATE OR REPLACE FUNCTION operations.reserve_velocity(
      payment text, account text, who text, at timestamptz, customer_max integer, account_max integer
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
      total bigint;
      counted timestamptz;
      gone bigint;
      latest timestamptz;
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
      IF who IS NOT NULL AND customer_max <= (SELECT count(*) FROM (
        SELECT FROM operations.velocity_reservations v
          WHERE v.account_id = account AND v.customer = who AND v.reserved_at > since LIMIT customer_max) c
      ) THEN
        RETURN 'customer';
      END IF;
      SELECT t.charges, t.counted_from INTO total, counted FROM operations.velocity_totals t WHERE t.account_id = account;
      IF NOT FOUND THEN
        SELECT count(*) INTO total FROM operations.velocity_reservations v WHERE v.account_id = account AND v.reserved_at > since;
        counted := since;
        INSERT INTO operations.velocity_totals (account_id, charges, counted_from) VALUES (account, total, counted);
      END IF;
      WHILE counted < since LOOP
        SELECT count(*), max(g.reserved_at) INTO gone, latest FROM (
          SELECT v.reserved_at FROM operations.velocity_reservations v
            WHERE v.account_id = account AND v.reserved_at > counted AND v.reserved_at <= since
            ORDER BY v.reserved_at FETCH FIRST ${STEP} ROWS WITH TIES) g;
        total := total - gone;
        counted := CASE WHEN gone < ${STEP} THEN since ELSE latest END;
        EXIT WHEN total < account_max;
      END LOOP;
      IF NOT EXISTS (SELECT FROM operations.velocity_reservations v WHERE v.account_id = account AND v.reserved_at > counted) THEN
        total := 0;
      END IF;
      IF account_max <= total THEN
        UPDATE operations.velocity_totals t SET charges = total, counted_from = counted WHERE t.account_id = account;
        RETURN 'account';
      END IF;
      -- The hour of an older reservation of the same payment has passed, but it may not be subtracted yet.
      WITH before AS (DELETE FROM operations.velocity_reservations v WHERE v.payment_id = payment RETURNING v.reserved_at)
        SELECT total - count(*) INTO total FROM before b WHERE b.reserved_at > counted;
      INSERT INTO operations.velocity_reservations (payment_id, account_id, customer, reserved_at)
        VALUES (payment, account, who, greatest(at, counted + interval '1 microsecond'));
      UPDATE operations.velocity_totals t SET charges = total + 1, counted_from = counted WHERE t.account_id = account;
      -- Reservations are kept an hour longer than they count, for processes whose clocks differ.
      DELETE FROM operations.velocity_reservations v WHERE v.payment_id IN (
        SELECT o.payment_id FROM operations.velocity_reservations o
          WHERE o.account_id = account AND o.reserved_at < least(since - interval '1 hour', counted)
          ORDER BY o.reserved_at LIMIT ${DELETED});
      RETURN 'reserved';
    END
    $function$;

    -- Frees the places of charges that ended, and notes how far they were looked for.
    CREATE FUNCTION operations.release_velocity(account text, payments text[], until timestamptz) RETURNS void
      LANGUAGE plpgsql AS $function$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('velocity ' || account, 0));
      WITH gone AS (
        DELETE FROM operations.velocity_reservations v WHERE v.account_id = account AND v.payment_id = ANY (payments)
        RETURNING v.reserved_at)
      UPDATE operations.velocity_totals t
        SET charges = t.charges - (SELECT count(*) FROM gone g WHERE g.reserved_at > t.counted_from), checked_until = until
        WHERE t.account_id = account;
    END
    $function$;`;

const REFUNDS = `
    CREATE TABLE operations.refund_totals (
      account_id text COLLATE "C" NOT NULL,
      -- '' is the row of all currencies; its amount is 0.
      currency text COLLATE "C" NOT NULL,
      -- Reservations later than counted_from, which the rows of an account have in common.
      refunds bigint NOT NULL,
      amount bigint NOT NULL,
      counted_from timestamptz NOT NULL,
      PRIMARY KEY (account_id, currency)
    ) WITH (fillfactor = 50);

    CREATE OR REPLACE FUNCTION operations.reserve_refund(
      refund text, account text, of_currency text, of_amount bigint, at timestamptz, count_max integer, sum_max bigint
    ) RETURNS text LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      since timestamptz := at - interval '1 hour';
      counted timestamptz;
      step timestamptz;
      own operations.refund_reservations;
      outcome text;
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
      SELECT t.counted_from INTO counted FROM operations.refund_totals t WHERE t.account_id = account AND t.currency = '';
      IF NOT FOUND OR NOT EXISTS (
        SELECT FROM operations.refund_reservations r WHERE r.account_id = account AND r.reserved_at > counted
      ) THEN
        DELETE FROM operations.refund_totals t WHERE t.account_id = account;
        counted := since;
        INSERT INTO operations.refund_totals (account_id, currency, refunds, amount, counted_from)
          SELECT account, coalesce(r.currency, ''), count(*), CASE WHEN r.currency IS NULL THEN 0 ELSE sum(r.amount) END, counted
          FROM operations.refund_reservations r WHERE r.account_id = account AND r.reserved_at > since GROUP BY ROLLUP (r.currency);
      END IF;
      LOOP
        SELECT * INTO own FROM operations.refund_reservations r WHERE r.refund_id = refund AND r.reserved_at > counted;
        SELECT CASE
            WHEN count_max <= sum(t.refunds) FILTER (WHERE t.currency = '') - (own.refund_id IS NOT NULL)::integer THEN 'count'
            WHEN sum_max < of_amount + coalesce(sum(t.amount) FILTER (WHERE t.currency = of_currency), 0)
              - coalesce(own.amount, 0) THEN 'sum'
            ELSE 'reserved' END
          INTO outcome FROM operations.refund_totals t WHERE t.account_id = account;
        -- Reservations whose hour has passed are subtracted in steps: one of them now, the others only if the limit is reached.
        EXIT WHEN counted >= since OR (outcome = 'reserved' AND step IS NOT NULL);
        SELECT CASE WHEN count(*) < ${STEP} THEN since ELSE max(g.reserved_at) END INTO step FROM (
          SELECT r.reserved_at FROM operations.refund_reservations r
            WHERE r.account_id = account AND r.reserved_at > counted AND r.reserved_at <= since
            ORDER BY r.reserved_at FETCH FIRST ${STEP} ROWS WITH TIES) g;
        UPDATE operations.refund_totals t
          SET refunds = t.refunds - coalesce(g.refunds, 0), amount = t.amount - coalesce(g.amount, 0), counted_from = step
          FROM operations.refund_totals o LEFT JOIN (
            SELECT coalesce(r.currency, '') AS currency, count(*) AS refunds,
              CASE WHEN r.currency IS NULL THEN 0 ELSE sum(r.amount) END AS amount
            FROM operations.refund_reservations r WHERE r.account_id = account AND r.reserved_at > counted AND r.reserved_at <= step
            GROUP BY ROLLUP (r.currency)) g ON g.currency = o.currency
          WHERE o.account_id = account AND t.account_id = account AND t.currency = o.currency;
        counted := step;
      END LOOP;
      IF outcome <> 'reserved' THEN
        RETURN outcome;
      END IF;
      INSERT INTO operations.refund_totals AS t (account_id, currency, refunds, amount, counted_from)
        SELECT account, c.currency, CASE WHEN own.refund_id IS NULL THEN 1 ELSE 0 END, c.amount, counted
        FROM (VALUES ('', 0), (of_currency, of_amount - coalesce(own.amount, 0))) AS c (currency, amount)
        ON CONFLICT (account_id, currency) DO UPDATE SET refunds = t.refunds + excluded.refunds, amount = t.amount + excluded.amount;
      INSERT INTO operations.refund_reservations (refund_id, account_id, currency, amount, reserved_at)
        VALUES (refund, account, of_currency, of_amount, greatest(at, counted + interval '1 microsecond'))
        ON CONFLICT (refund_id) DO UPDATE SET amount = excluded.amount, reserved_at = excluded.reserved_at;
      -- Reservations are kept an hour longer than they count, for processes whose clocks differ.
      DELETE FROM operations.refund_reservations r WHERE r.refund_id IN (
        SELECT o.refund_id FROM operations.refund_reservations o
          WHERE o.account_id = account AND o.reserved_at < least(since - interval '1 hour', counted)
          ORDER BY o.reserved_at LIMIT ${DELETED});
      RETURN 'reserved';
    END
    $function$;`;

export async function up(knex: Knex): Promise<void> {
  for (const guard of [VELOCITY, REFUNDS]) await knex.raw(guard);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
