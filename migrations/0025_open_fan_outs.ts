// A view of jobs that may still schedule deliveries, so that read models need not know the job queue's tables.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    CREATE VIEW operations.open_fan_outs AS
      SELECT o.payload::jsonb->>'stream' AS stream FROM operations.owed o WHERE o.queue = 'fanOut';`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
