// The sandbox bank keeps until when an instrument takes money: what it made before the gateway knew of it began to run out then (K7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw('ALTER TABLE sandbox_bank.instruments ADD COLUMN expires_at timestamptz');

export const down = (): never => {
  throw new Error('migrations go forward only');
};
