// Places in the hourly limits, where several requests share one (rule E6).
import type { Knex } from 'knex';

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

export const up = (knex: Knex): Promise<unknown> => knex.raw(CHARGES);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
