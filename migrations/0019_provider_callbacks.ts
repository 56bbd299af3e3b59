// Callbacks of institutions, as they arrived: operational data (rule V2).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Losing rows of the last second loses no money: reconciliation finds every payment.
    CREATE TABLE operations.provider_callbacks (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      connection_id text COLLATE "C" NOT NULL,
      -- SHA-256 of the body: the same body again is counted.
      body_hash bytea NOT NULL,
      -- Bytes, because a body may be no UTF-8 and may contain NUL.
      raw bytea NOT NULL,
      times integer NOT NULL DEFAULT 1,
      received_at timestamptz NOT NULL DEFAULT now(),
      last_received_at timestamptz NOT NULL DEFAULT now(),
      -- How many of its hints are handled, and the findings of those as JSON.
      done integer NOT NULL DEFAULT 0,
      findings text NOT NULL DEFAULT '[]',
      handled_at timestamptz,
      outcome text COLLATE "C",
      -- Whether it waits for an operator.
      is_open boolean NOT NULL GENERATED ALWAYS AS (
        outcome IN ('contradicted', 'unmatched', 'notConfirmed', 'notUnderstood') AND outcome IS NOT NULL AND resolved_at IS NULL) STORED,
      resolved_at timestamptz,
      resolved_by text,
      resolved_reason text,
      UNIQUE (connection_id, body_hash)
    );
    CREATE INDEX provider_callbacks_unhandled ON operations.provider_callbacks (received_at, id) WHERE handled_at IS NULL;
    CREATE INDEX provider_callbacks_open ON operations.provider_callbacks (id) WHERE is_open;
    CREATE INDEX provider_callbacks_latest ON operations.provider_callbacks (connection_id, last_received_at);
    CREATE INDEX provider_callbacks_of_connection ON operations.provider_callbacks (connection_id, id);
    CREATE INDEX provider_callbacks_to_forget ON operations.provider_callbacks (greatest(handled_at, resolved_at))
      WHERE handled_at IS NOT NULL AND NOT is_open;`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
