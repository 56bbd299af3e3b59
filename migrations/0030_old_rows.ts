// Data for the deletion of old operational rows (infrastructure/operations/oldRows.ts): when each row of the sandbox bank was booked, the
// indexes that find the oldest rows, and the places of idle accounts in the hourly limits.
import type { Knex } from 'knex';

const BOOKED = ['cases', 'case_rulings', 'facts', 'refunds', 'payouts'];

const AGES = `
    ${BOOKED.map((table) => `ALTER TABLE sandbox_bank.${table} ADD COLUMN booked_at timestamptz NOT NULL DEFAULT now();`).join('\n    ')}
    ${BOOKED.map((table) => `CREATE INDEX ${table}_booked ON sandbox_bank.${table} (booked_at);`).join('\n    ')}
    CREATE INDEX returns_booked ON sandbox_bank.returns (returned_at);
    CREATE INDEX instruments_booked ON sandbox_bank.instruments (answer_at);

    CREATE INDEX provider_notifications_handled ON operations.provider_notifications (handled_at) WHERE handled_at IS NOT NULL;`;

const SECRETS = `
    -- A rotation keeps the version before. Earlier versions kept all of them.
    DELETE FROM operations.webhook_secrets s
      WHERE version < (SELECT max(n.version) - 1 FROM operations.webhook_secrets n WHERE n.endpoint_id = s.endpoint_id);`;

// An account that reserves places deletes its old ones itself. Without its totals, the next decision counts the rows of its hour again.
const LIMITS = `
    -- Deletes at most 'most' places of accounts whose last place is three hours old, and their totals. Returns how many places it deleted.
    CREATE FUNCTION operations.forget_idle_places(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $function$
    DECLARE
      before timestamptz := now() - interval '3 hours';
      guard record;
      account text;
      is_idle boolean;
      gone integer;
      deleted integer := 0;
    BEGIN
      -- Under any other level the statements below would see a snapshot from before the lock.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.forget_idle_places needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      FOR guard IN SELECT * FROM (VALUES
        ('velocity', 'velocity_reservations', 'velocity_totals'),
        ('refunds', 'refund_reservations', 'refund_totals'),
        ('payouts', 'payouts_of_hour', 'payout_totals')) AS g (lock, places, totals)
      LOOP
        FOR account IN EXECUTE format('WITH RECURSIVE found (id) AS (
            SELECT min(account_id) FROM operations.%1$I
            UNION ALL
            SELECT (SELECT min(p.account_id) FROM operations.%1$I p WHERE p.account_id > f.id) FROM found f WHERE f.id IS NOT NULL)
          SELECT id FROM found WHERE id IS NOT NULL
            AND NOT EXISTS (SELECT FROM operations.%1$I p WHERE p.account_id = id AND p.reserved_at >= $1)', guard.places) USING before
        LOOP
          EXIT WHEN deleted >= most;
          CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended(guard.lock || ' ' || account, 0));
          EXECUTE format('SELECT NOT EXISTS (SELECT FROM operations.%I p WHERE p.account_id = $1 AND p.reserved_at >= $2)', guard.places)
            INTO is_idle USING account, before;
          CONTINUE WHEN NOT is_idle;
          EXECUTE format('DELETE FROM operations.%I WHERE account_id = $1', guard.totals) USING account;
          EXECUTE format('DELETE FROM operations.%1$I WHERE ctid = ANY (ARRAY(
            SELECT p.ctid FROM operations.%1$I p WHERE p.account_id = $1 LIMIT $2))', guard.places) USING account, most - deleted;
          GET DIAGNOSTICS gone = ROW_COUNT;
          deleted := deleted + gone;
        END LOOP;
      END LOOP;
      RETURN deleted;
    END
    $function$;`;

export async function up(knex: Knex): Promise<void> {
  for (const part of [AGES, SECRETS, LIMITS]) await knex.raw(part);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
