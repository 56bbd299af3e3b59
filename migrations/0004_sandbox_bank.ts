// The books of the sandbox bank: the outside world, in a schema of its own, reached only through the provider port (architecture §7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA sandbox_bank;

    -- Instruments that were asked of the bank by name (the ordinary sandbox charge needs none: its code is made locally).
    CREATE TABLE sandbox_bank.instruments (
      account_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      answer_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, txid)
    );

    CREATE TABLE sandbox_bank.pix (
      account_id text COLLATE "C" NOT NULL,
      end_to_end_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      payer_name text,
      payer_document text,
      paid_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, end_to_end_id)
    );
    CREATE INDEX pix_of_txid ON sandbox_bank.pix (account_id, txid);

    CREATE TABLE sandbox_bank.returns (
      account_id text COLLATE "C" NOT NULL,
      return_id text COLLATE "C" NOT NULL,
      end_to_end_id text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      returned_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, return_id)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
