// Logins and sessions: operational data. If sessions and failed logins are lost, users log in again. Email addresses and passwords are
// backed up like events (architecture §1).
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<unknown> =>
  knex.raw(`
    -- Which user an address names. Claimed before the user's first event is written: one without a user is taken over by the next attempt.
    CREATE TABLE operations.user_emails (
      -- In lower case.
      email text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL
    );

    -- Hashes of passwords (argon2id). The user's events name the one that is in force.
    CREATE TABLE operations.passwords (
      id text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      hash text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX passwords_of_user ON operations.passwords (user_id);

    CREATE TABLE operations.sessions (
      id text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      -- Null: of an operator of the platform.
      account_id text COLLATE "C",
      -- The password that opened it.
      password_id text COLLATE "C" NOT NULL,
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX sessions_of_user ON operations.sessions (user_id);
    CREATE INDEX sessions_by_end ON operations.sessions (expires_at);

    -- Failed logins, which slow down the next ones of the same user.
    CREATE TABLE operations.login_failures (
      -- A keyed hash of the address that was tried, whether it names somebody or not.
      subject text COLLATE "C" NOT NULL,
      failed_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX login_failures_of_subject ON operations.login_failures (subject, failed_at);
    CREATE INDEX login_failures_by_time ON operations.login_failures (failed_at);

    -- Links by mail that somebody asked for and that were not sent yet. One waits for each address.
    CREATE TABLE operations.password_link_requests (
      id text COLLATE "C" PRIMARY KEY,
      purpose text COLLATE "C" NOT NULL,
      -- In lower case. It may be nobody's.
      email text COLLATE "C" NOT NULL UNIQUE,
      requested_at timestamptz NOT NULL DEFAULT now()
    );

    -- Links by which a user sets a password.
    CREATE TABLE operations.password_links (
      -- The SHA-256 of its secret.
      hash text COLLATE "C" PRIMARY KEY,
      user_id text COLLATE "C" NOT NULL,
      -- The password in force when it was made. Null: none.
      password_id text COLLATE "C",
      expires_at timestamptz NOT NULL,
      opened_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX password_links_of_user ON operations.password_links (user_id, opened_at);
    CREATE INDEX password_links_by_end ON operations.password_links (expires_at);`);

export const down = (): never => {
  throw new Error('migrations go forward only');
};
