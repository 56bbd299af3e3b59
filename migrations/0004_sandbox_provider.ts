// The ledger of the sandbox bank, which simulates the outside world in its own schema. Only the provider port uses it (architecture §7).
import type { Knex } from 'knex';

const BOOKS = `
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

    -- Disputes, and what was ruled of them since (number 2 and on: the opening is report 1).
    CREATE TABLE sandbox_bank.cases (
      account_id text COLLATE "C" NOT NULL,
      provider_case_id text COLLATE "C" NOT NULL,
      payment_id text COLLATE "C" NOT NULL,
      txid text COLLATE "C" NOT NULL,
      type text COLLATE "C" NOT NULL,
      -- null: the payment's
      amount bigint,
      method text COLLATE "C",
      reason text,
      payer_name text,
      payer_document text,
      -- An instant; 'unknown'; null: nothing is said of it.
      response_deadline text COLLATE "C",
      opened_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, provider_case_id)
    );
    CREATE INDEX cases_of_txid ON sandbox_bank.cases USING hash (txid);
    CREATE TABLE sandbox_bank.case_rulings (
      account_id text COLLATE "C" NOT NULL,
      provider_case_id text COLLATE "C" NOT NULL,
      number integer NOT NULL,
      -- agreed, disagreed or withdrawn
      result text COLLATE "C" NOT NULL,
      returned boolean NOT NULL,
      review boolean NOT NULL,
      at timestamptz NOT NULL,
      PRIMARY KEY (account_id, provider_case_id, number)
    );

    -- What acquirers report besides payments and disputes: a card in flight, a refusal.
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
    );`;

export const up = (knex: Knex): Promise<unknown> => knex.raw(BOOKS);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
