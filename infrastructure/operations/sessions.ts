// Sessions and failed logins, in Postgres. Times are the database's: what has run out has run out for every process.
import { createHmac } from 'node:crypto';
import type { LoginFailures, Session, Sessions } from '../../application/ports/sessions.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, PasswordId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

interface Row {
  readonly id: SessionId;
  readonly user_id: UserId;
  readonly account_id: AccountId | null;
  readonly password_id: PasswordId;
}

const fromRow = ({ id, user_id, account_id, password_id }: Row): Session => ({
  sessionId: id,
  userId: user_id,
  accountId: account_id,
  passwordId: password_id,
});

export const sessions = (db: Sql): Sessions => ({
  begin: async ({ sessionId, userId, accountId, passwordId }, lifetimeSeconds) => {
    await db.query({
      name: 'begin_session',
      text: `INSERT INTO operations.sessions (id, user_id, account_id, password_id, expires_at)
        VALUES ($1, $2, $3, $4, now() + $5 * interval '1 second')`,
      values: [sessionId, userId, accountId, passwordId, lifetimeSeconds],
    });
  },
  find: async (sessionId) => {
    const { rows } = await db.query<Row>({
      name: 'find_session',
      text: 'SELECT id, user_id, account_id, password_id FROM operations.sessions WHERE id = $1 AND expires_at > now()',
      values: [sessionId],
    });
    return rows[0] ? fromRow(rows[0]) : null;
  },
  carryOver: async (sessionId, passwordId) => {
    await db.query('UPDATE operations.sessions SET password_id = $2 WHERE id = $1', [sessionId, passwordId]);
  },
  end: async (sessionId) => {
    await db.query('DELETE FROM operations.sessions WHERE id = $1', [sessionId]);
  },
  endOfUser: async (userId) => {
    await db.query('DELETE FROM operations.sessions WHERE user_id = $1', [userId]);
  },
  endOfAccount: async (accountId) => {
    await db.query('DELETE FROM operations.sessions WHERE account_id = $1', [accountId]);
  },
  forgetOld: async () => {
    await db.query('DELETE FROM operations.sessions WHERE expires_at < now()');
  },
});

/** How long a failed login counts. */
const WINDOW = "interval '15 minutes'";

/** The address stands in the table as a keyed hash: the table tells nobody who was tried. */
export const loginFailures = (db: Sql, keyring: SecretsKeyring): LoginFailures => {
  const key = keyring.keyFor('login failures', keyring.sealingId) as Buffer;
  const subjectOf = (email: string): string => createHmac('sha256', key).update(email.toLowerCase()).digest('hex');
  return {
    count: async (email) => {
      const { rows } = await db.query<{ count: number }>({
        name: 'count_login_failures',
        text: `SELECT count(*)::int AS count FROM operations.login_failures
          WHERE subject = $1 AND failed_at > now() - ${WINDOW}`,
        values: [subjectOf(email)],
      });
      return rows[0]?.count ?? 0;
    },
    record: async (email) => {
      await db.query({
        name: 'record_login_failure',
        text: 'INSERT INTO operations.login_failures (subject) VALUES ($1)',
        values: [subjectOf(email)],
      });
    },
    forgetOld: async () => {
      await db.query(`DELETE FROM operations.login_failures WHERE failed_at < now() - ${WINDOW}`);
    },
  };
};
