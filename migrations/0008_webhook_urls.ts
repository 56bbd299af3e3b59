// Webhooks of payments to URLs of their own (rule W7).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Whose payments ever had a webhookUrl: what the fan-out decides on, under its own checkpoint.
    CREATE TABLE operations.fan_out_webhook_urls (
      account_id text COLLATE "C" NOT NULL,
      mode text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, mode)
    );`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
