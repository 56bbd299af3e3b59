// Uploads of evidence before they are confirmed: operational data (rule E9).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Grants whose files are not confirmed. A row stays for a day after its file was removed, so that its merchant gets the same answer.
    CREATE TABLE operations.evidence_grants (
      evidence_id text COLLATE "C" PRIMARY KEY,
      case_id text COLLATE "C" NOT NULL,
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      file_name text NOT NULL,
      file_size integer NOT NULL,
      mime_type text COLLATE "C" NOT NULL,
      -- In account time.
      granted_at timestamptz(3) NOT NULL,
      expires_at timestamptz(3) NOT NULL,
      -- In real time.
      ends_at timestamptz(3) NOT NULL,
      -- Of the file: {"sha256"} or {"rejected", "code", "message"}. Null: nobody has looked at it.
      verdict jsonb,
      -- The upload on its way, and until when it is known to be alive.
      upload text COLLATE "C",
      upload_until timestamptz,
      removed boolean NOT NULL DEFAULT false
    );
    CREATE INDEX evidence_grants_of_account ON operations.evidence_grants (account_id, mode, case_id) WHERE NOT removed;
    CREATE INDEX evidence_grants_to_remove ON operations.evidence_grants (ends_at) WHERE NOT removed;
    CREATE INDEX evidence_grants_to_forget ON operations.evidence_grants (ends_at) WHERE removed;

    -- Accounts of which a process judges a file now.
    CREATE TABLE operations.evidence_judging (
      account_id text COLLATE "C" PRIMARY KEY,
      holder text COLLATE "C" NOT NULL,
      until timestamptz NOT NULL
    );

    -- Adds a grant. Returns no row, or the limit that is reached and the seconds until one of the grants that count ends.
    CREATE FUNCTION operations.grant_evidence(
      evidence text, medcase text, account text, account_mode text, name text, bytes integer, mime text, granted timestamptz,
      expires timestamptz, ends timestamptz, real_now timestamptz, open_max integer, bytes_max bigint
    ) RETURNS TABLE (reached text, retry_seconds integer) LANGUAGE plpgsql VOLATILE AS $function$
    #variable_conflict use_column
    DECLARE
      open_count bigint;
      open_until timestamptz;
      kept_bytes bigint;
      kept_until timestamptz;
    BEGIN
      -- Under any other level the statement below would see a snapshot from before the lock, and count too few.
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'operations.grant_evidence needs read committed' USING ERRCODE = 'invalid_transaction_state';
      END IF;
      PERFORM pg_advisory_xact_lock(hashtextextended('evidence ' || account_mode || ' ' || account, 0));
      SELECT count(*) FILTER (WHERE is_open), min(g.ends_at) FILTER (WHERE is_open), coalesce(sum(g.file_size), 0), min(g.ends_at)
        INTO open_count, open_until, kept_bytes, kept_until
        FROM operations.evidence_grants g, LATERAL (SELECT g.case_id = medcase AND g.verdict -> 'rejected' IS NULL
          AND g.ends_at > real_now AND g.expires_at > granted AS is_open) o
        WHERE g.account_id = account AND g.mode = account_mode AND NOT g.removed;
      IF open_count >= open_max THEN
        RETURN QUERY SELECT 'openOfCase', greatest(1, ceil(extract(epoch FROM open_until - real_now)))::integer;
      ELSIF kept_bytes + bytes > bytes_max THEN
        -- The file of an ended grant counts until it is removed, which takes up to a minute.
        RETURN QUERY SELECT 'unconfirmedBytes', greatest(1, ceil(extract(epoch FROM kept_until - real_now)) + 60)::integer;
      ELSE
        INSERT INTO operations.evidence_grants (evidence_id, case_id, account_id, mode, file_name, file_size, mime_type, granted_at,
          expires_at, ends_at) VALUES (evidence, medcase, account, account_mode, name, bytes, mime, granted, expires, ends);
      END IF;
    END
    $function$;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
