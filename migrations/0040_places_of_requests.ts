// Places in the hourly limits that several requests share (rules E6, M7b).
import type { Knex } from 'knex';

/** Most reservations that a decision subtracts or deletes at once, unless the limit is reached. */
const STEP = 1_000;
const DELETED = 100;

/** Deletes the place of a refund or payout, and subtracts it from the totals of its account if they still count it. */
const freed = (places: string, of: 'refund' | 'payout'): string => `WITH gone AS (
        DELETE FROM operations.${places} p WHERE p.${of}_id = ${of} RETURNING p.currency, p.amount, p.reserved_at)
      UPDATE operations.${of}_totals t
        SET ${of}s = t.${of}s - 1, amount = t.amount - CASE WHEN t.currency = '' THEN 0 ELSE g.amount END
        FROM gone g WHERE t.account_id = account AND t.currency IN ('', g.currency) AND g.reserved_at > t.counted_from;`;

const CHARGES = `
    -- Like reserve_velocity, for a request that creates the payment. Returns 'running' if a request of another customer reserved the place
    -- less than running_max ago: it may still store its charge. Otherwise an earlier place belongs to a request that stored nothing.
    CREATE FUNCTION operations.reserve_charge(
      payment text, account text, who text, at timestamptz, customer_max integer, account_max integer, running_max interval
    ) RETURNS text LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
    DECLARE
      own operations.velocity_reservations;
    BEGIN
      -- The statements below see every place that was reserved before this lock.
      PERFORM pg_advisory_xact_lock(hashtextextended('velocity ' || account, 0));
      SELECT * INTO own FROM operations.velocity_reservations v WHERE v.payment_id = payment;
      IF own.reserved_at > at - running_max THEN
        IF own.customer IS DISTINCT FROM who THEN
          RETURN 'running';
        END IF;
        -- Either request may store the charge, so the place is kept, whatever the limits are now.
        UPDATE operations.velocity_reservations v SET reserved_at = greatest(v.reserved_at, at) WHERE v.payment_id = payment;
        RETURN 'reserved';
      END IF;
      IF own.payment_id IS NOT NULL THEN
        PERFORM operations.release_velocity(account, ARRAY[payment],
          (SELECT t.checked_until FROM operations.velocity_totals t WHERE t.account_id = account));
      END IF;
      RETURN operations.reserve_velocity(payment, account, who, at, customer_max, account_max);
    END
    $function$;`;

const REFUNDS = `
    -- Requests that reserved the place and did not release it. The refund may have been stored by any of them.
    ALTER TABLE operations.refund_reservations ADD COLUMN requests integer NOT NULL DEFAULT 1;

    CREATE OR REPLACE FUNCTION operations.reserve_refund(
      refund text, account text, of_currency text, of_amount bigint, at timestamptz, count_max integer, sum_max bigint
    ) RETURNS text LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
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
      SELECT t.counted_from INTO counted FROM operations.refund_totals t WHERE t.account_id = account AND t.currency = '';
      -- A refund counts from the request that stores it. Its place was counted all the time, so moving it exceeds no limit.
      UPDATE operations.refund_reservations r SET requests = r.requests + 1, reserved_at = greatest(r.reserved_at, at)
        WHERE r.refund_id = refund AND r.reserved_at > greatest(since, counted) AND r.amount >= of_amount;
      IF FOUND THEN
        RETURN 'reserved';
      END IF;
      IF counted IS NULL OR NOT EXISTS (
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
      INSERT INTO operations.refund_reservations AS r (refund_id, account_id, currency, amount, reserved_at)
        VALUES (refund, account, of_currency, of_amount, greatest(at, counted + interval '1 microsecond'))
        ON CONFLICT (refund_id) DO UPDATE SET amount = excluded.amount, reserved_at = greatest(r.reserved_at, excluded.reserved_at),
          requests = CASE WHEN r.reserved_at > since THEN r.requests + 1 ELSE 1 END;
      -- Reservations are kept an hour longer than they count, for processes whose clocks differ.
      DELETE FROM operations.refund_reservations r WHERE r.refund_id IN (
        SELECT o.refund_id FROM operations.refund_reservations o
          WHERE o.account_id = account AND o.reserved_at < least(since - interval '1 hour', counted)
          ORDER BY o.reserved_at LIMIT ${DELETED});
      RETURN 'reserved';
    END
    $function$;

    -- Frees the place of a request that stored no refund, unless another request shares it.
    CREATE FUNCTION operations.release_refund(refund text, account text) RETURNS void
      LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('refunds ' || account, 0));
      UPDATE operations.refund_reservations r SET requests = r.requests - 1 WHERE r.refund_id = refund AND r.requests > 1;
      IF FOUND THEN
        RETURN;
      END IF;
      ${freed('refund_reservations', 'refund')}
    END
    $function$;`;

const PAYOUTS = `
    -- Frees the money and the place of an abandoned request. A reservation with another token belongs to a repeat.
    CREATE FUNCTION operations.release_payout(payout text, account text, of_token uuid) RETURNS void
      LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $function$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('payouts ' || account, 0));
      DELETE FROM operations.payout_reservations r WHERE r.payout_id = payout AND r.token = of_token;
      IF NOT FOUND THEN
        RETURN;
      END IF;
      ${freed('payouts_of_hour', 'payout')}
    END
    $function$;`;

export async function up(knex: Knex): Promise<void> {
  for (const guard of [CHARGES, REFUNDS, PAYOUTS]) await knex.raw(guard);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
