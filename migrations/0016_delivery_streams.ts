// A delivery refers to an event of any stream by stream and revision. The payment of its message is only a label.
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    DROP VIEW operations.waiting_deliveries;
    ALTER TABLE operations.scheduled_deliveries RENAME COLUMN payment_revision TO of_revision;
    ALTER TABLE operations.scheduled_deliveries ADD COLUMN of_stream text COLLATE "C";
    UPDATE operations.scheduled_deliveries SET of_stream = 'payment-' || payment_id;
    -- Null: the message is not about a payment.
    ALTER TABLE operations.scheduled_deliveries ALTER COLUMN of_stream SET NOT NULL, ALTER COLUMN payment_id DROP NOT NULL;
    CREATE VIEW operations.waiting_deliveries AS SELECT s.* FROM operations.scheduled_deliveries s;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
