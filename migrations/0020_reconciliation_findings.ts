// Reconciliation per provider connection (rule V4): institutions' lists, the progress of the comparison, and its findings. Losing the items
// costs the reports of past days; findings are found again.
import type { Knex } from 'knex';

const ITEMS = `
    -- The institution's own records, one row each.
    CREATE TABLE operations.provider_items (
      connection_id text COLLATE "C" NOT NULL,
      -- received, returned or paid_out
      kind text COLLATE "C" NOT NULL,
      -- The end-to-end id of a received Pix, the id of a return, or the id that Quita chose for a sent Pix.
      id text COLLATE "C" NOT NULL,
      -- The received Pix of a return; otherwise ''.
      pix text COLLATE "C" NOT NULL,
      end_to_end_id text COLLATE "C",
      txid text COLLATE "C",
      -- The charge of the connection with this txid.
      payment_id text COLLATE "C",
      amount bigint NOT NULL,
      -- processing, done or refused
      status text COLLATE "C" NOT NULL,
      is_med boolean NOT NULL,
      -- The reference of our movement, if it differs from the id.
      match_id text COLLATE "C",
      at timestamptz NOT NULL,
      -- The civil day of São Paulo.
      day date NOT NULL,
      -- The day on which we posted it, if it differs.
      posted_on date,
      look bigint NOT NULL,
      PRIMARY KEY (connection_id, id, kind, pix)
    );
    CREATE INDEX provider_items_of_day ON operations.provider_items (connection_id, day, at);
    -- Returns that a look has listed with payments of another day.
    CREATE INDEX provider_items_returns ON operations.provider_items (connection_id, look) WHERE kind = 'returned';
    CREATE INDEX provider_items_matched ON operations.provider_items (connection_id, match_id) WHERE match_id IS NOT NULL;
    CREATE INDEX provider_items_posted ON operations.provider_items (connection_id, posted_on) WHERE posted_on IS NOT NULL;`;

const PROGRESS = `
    CREATE SEQUENCE operations.reconciliation_look_numbers;
    -- How far each look has got. A look that was interrupted continues at its cursor. 'version' counts the steps, so that of two processes
    -- one goes on.
    CREATE TABLE operations.reconciliation_looks (
      connection_id text COLLATE "C" NOT NULL,
      -- latest, day1, day7 or day30
      name text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      number bigint NOT NULL,
      -- What is compared, and what will be when it ends.
      until timestamptz NOT NULL,
      target timestamptz NOT NULL,
      -- received, sent, ask, compare; done: nothing is under way.
      step text COLLATE "C" NOT NULL,
      cursor text,
      started_at timestamptz NOT NULL,
      PRIMARY KEY (connection_id, name)
    );
    CREATE TABLE operations.reconciliation_runs (
      connection_id text COLLATE "C" PRIMARY KEY,
      -- When the latest completed comparison started.
      compared_at timestamptz,
      -- Of the institution's latest answer that it can't answer now.
      retry_at timestamptz,
      failures integer NOT NULL DEFAULT 0
    );
    -- An operator's requests. The connection '' stands for all.
    CREATE TABLE operations.reconciliation_requests (
      connection_id text COLLATE "C" PRIMARY KEY,
      requested_at timestamptz NOT NULL
    );`;

const FINDINGS = `
    CREATE TABLE operations.reconciliation_findings (
      id text COLLATE "C" PRIMARY KEY,
      connection_id text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      -- The movement: received, returned or paid_out, and its id.
      moved text COLLATE "C" NOT NULL,
      reference text COLLATE "C" NOT NULL,
      day date NOT NULL,
      at timestamptz NOT NULL,
      end_to_end_id text COLLATE "C",
      txid text COLLATE "C",
      payment_id text COLLATE "C",
      -- Signed: what left the institution is negative. Ours and theirs; null: there is nothing.
      expected bigint,
      found bigint,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      last_seen_at timestamptz NOT NULL DEFAULT now(),
      -- When it was logged and first counted. Before, it may be a movement that is under way.
      alerted_at timestamptz,
      resolved_at timestamptz,
      resolved_by text,
      reason text,
      UNIQUE (connection_id, reference, moved, kind)
    );
    CREATE INDEX reconciliation_findings_open ON operations.reconciliation_findings (connection_id, id) WHERE resolved_at IS NULL;
    CREATE INDEX reconciliation_findings_of_day ON operations.reconciliation_findings (connection_id, day, at);`;

export async function up(knex: Knex): Promise<void> {
  for (const tables of [ITEMS, PROGRESS, FINDINGS]) await knex.raw(tables);
}

export const down = (): never => {
  throw new Error('migrations go forward only');
};
