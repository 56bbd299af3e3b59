// Second factors of users, and the time of a session's latest use. Second factors and recovery codes are backed up like passwords
// (architecture §1).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Secrets of TOTP. The user's events name the factor that is in force.
    CREATE TABLE operations.second_factors (
      id text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      -- Until the user has sent a code of it.
      is_pending boolean NOT NULL DEFAULT true,
      key_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL,
      -- Steps of 30 seconds whose code was used, as long as the code would be right.
      used_steps integer[] NOT NULL DEFAULT '{}',
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX second_factors_of_user ON operations.second_factors (user_id);

    -- Codes that were not used yet.
    CREATE TABLE operations.recovery_codes (
      -- SHA-256.
      hash text COLLATE "C" PRIMARY KEY,
      second_factor_id text COLLATE "C" NOT NULL REFERENCES operations.second_factors ON DELETE CASCADE
    );
    CREATE INDEX recovery_codes_of_second_factor ON operations.recovery_codes (second_factor_id);

    ALTER TABLE operations.sessions
      ADD COLUMN used_at timestamptz NOT NULL DEFAULT now(),
      -- The second factor that opened it. Null: the password alone.
      ADD COLUMN second_factor_id text COLLATE "C";`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
