// The sandbox bank's payments in order of booking, and the progress of their comparison with notifications, for all accounts at once.
// `operations.reconciliations`, the progress of each tenant, is only read and written by earlier versions.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER TABLE sandbox_bank.payments ADD COLUMN booked_at timestamptz NOT NULL DEFAULT now();
    CREATE INDEX payments_booked ON sandbox_bank.payments (booked_at, account_id, provider_payment_id);

    CREATE TABLE operations.provider_lists (
      mode text COLLATE "C" PRIMARY KEY,
      until timestamptz NOT NULL
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
