// The books of the sandbox bank: the outside world, in a schema of its own, reached only through the provider port (architecture §7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE SCHEMA sandbox_bank;

    -- Instruments that were asked of the bank by name (the ordinary sandbox charge needs none: its code is made locally).
    CREATE TABLE sandbox_bank.instruments (
      account_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      method text COLLATE "C" NOT NULL DEFAULT 'PIX',
      answer_at timestamptz NOT NULL DEFAULT now(),
      cancelled boolean NOT NULL DEFAULT false,
      -- Until when it takes money: what the bank made before the gateway knew of it began to run out then (K7).
      expires_at timestamptz,
      PRIMARY KEY (account_id, txid, method)
    );

    CREATE TABLE sandbox_bank.payments (
      account_id text COLLATE "C" NOT NULL,
      -- Of a Pix its end-to-end id.
      provider_payment_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      method text COLLATE "C" NOT NULL DEFAULT 'PIX',
      amount bigint NOT NULL,
      payer_name text,
      payer_document text,
      paid_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, provider_payment_id)
    );
    CREATE INDEX payments_of_txid ON sandbox_bank.payments USING hash (txid);

    CREATE TABLE sandbox_bank.returns (
      account_id text COLLATE "C" NOT NULL,
      return_id text COLLATE "C" NOT NULL,
      provider_payment_id text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      returned_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, return_id)
    );

    -- What acquirers report besides payments: a card in flight, a refusal, a chargeback.
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
      -- Of the payment that is refunded.
      provider_payment_id text COLLATE "C" NOT NULL,
      strategy text COLLATE "C" NOT NULL,
      destination text,
      amount bigint NOT NULL,
      -- processing, confirmed or refused
      status text COLLATE "C" NOT NULL,
      reason text,
      -- Of the return or of the Pix-out; null where the method has none.
      end_to_end_id text COLLATE "C",
      PRIMARY KEY (account_id, refund_id)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
