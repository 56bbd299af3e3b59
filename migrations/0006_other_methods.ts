// Payments of other methods than Pix, cancellation and refunds: what providers tell of them, and the sandbox bank's books of them.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- No longer of Pix alone: a payment by its end-to-end id, anything else by an id of the acquirer's.
    ALTER TABLE operations.pix_notifications RENAME TO provider_notifications;
    ALTER TABLE operations.provider_notifications RENAME COLUMN end_to_end_id TO reference;
    ALTER TABLE operations.provider_notifications ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'payment';

    ALTER TABLE sandbox_bank.pix RENAME TO payments;
    ALTER TABLE sandbox_bank.payments ADD COLUMN method text COLLATE "C" NOT NULL DEFAULT 'PIX';

    ALTER TABLE sandbox_bank.instruments ADD COLUMN method text COLLATE "C" NOT NULL DEFAULT 'PIX';
    ALTER TABLE sandbox_bank.instruments ADD COLUMN cancelled boolean NOT NULL DEFAULT false;
    ALTER TABLE sandbox_bank.instruments DROP CONSTRAINT instruments_pkey;
    ALTER TABLE sandbox_bank.instruments ADD PRIMARY KEY (account_id, txid, method);

    -- What acquirers tell besides payments: a card in flight, a refusal, a chargeback.
    CREATE TABLE sandbox_bank.facts (
      account_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      number integer NOT NULL,
      kind text COLLATE "C" NOT NULL,
      method text COLLATE "C" NOT NULL,
      reason text,
      at timestamptz NOT NULL,
      PRIMARY KEY (account_id, txid, number)
    );

    CREATE TABLE sandbox_bank.refunds (
      account_id text COLLATE "C" NOT NULL,
      refund_id text COLLATE "C" NOT NULL,
      original_id text COLLATE "C" NOT NULL,
      strategy text COLLATE "C" NOT NULL,
      destination text,
      amount bigint NOT NULL,
      -- processing, confirmed or refused
      status text COLLATE "C" NOT NULL,
      reason text,
      end_to_end_id text COLLATE "C",
      PRIMARY KEY (account_id, refund_id)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
