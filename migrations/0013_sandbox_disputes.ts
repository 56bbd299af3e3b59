// The sandbox bank's disputes: the amount that a payer got, and which of two concurrent disputes of a charge wins (rules Q10, Q11).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE sandbox_bank.case_rulings ADD COLUMN returned_to_payer bigint;
    -- How many cases the charge had before; null: the bank did not ask whether the charge could take the dispute.
    ALTER TABLE sandbox_bank.cases ADD COLUMN ordinal integer;
    CREATE UNIQUE INDEX cases_in_turn ON sandbox_bank.cases (account_id, txid, ordinal) WHERE ordinal IS NOT NULL;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
