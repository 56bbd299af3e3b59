// Decisions on hourly limits read places by index only (rules E6, M7b). With few accounts in the table, PostgreSQL expects the places of
// one early in it and reads it from the start, so that a small account paid for the places of a large one.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    ALTER FUNCTION operations.reserve_velocity SET enable_seqscan = off;
    ALTER FUNCTION operations.reserve_refund SET enable_seqscan = off;
    ALTER FUNCTION operations.reserve_payout SET enable_seqscan = off`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
