// Sessions and failed logins, in PostgreSQL. Times are the database's, so that a session expires for every process at once.
import { createHmac } from 'node:crypto';
import type { LoginFailures, Session, Sessions } from '../../application/ports/logins.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, PasswordId, SecondFactorId, SessionId, UserId } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

interface Row {
  readonly id: SessionId;
  readonly user_id: UserId;
  readonly account_id: AccountId | null;
  readonly password_id: PasswordId;
  readonly second_factor_id: SecondFactorId | null;
}

const fromRow = ({ id, user_id, account_id, password_id, second_factor_id }: Row): Session => ({
  sessionId: id,
  userId: user_id,
  accountId: account_id,
  passwordId: password_id,
  secondFactorId: second_factor_id,
});

/** An operator's session expires this long after its last use. */
const IDLE = "interval '30 minutes'";

export const sessions = (db: Sql): Sessions => {
  /** Returns whether an operator's session has not expired by idleness. If so, also records this use for every process. */
  const use = async (sessionId: SessionId): Promise<boolean> => {
    const { rowCount } = await db.query({
      name: 'use_session',
      text: `UPDATE operations.sessions SET used_at = now()
        WHERE id = $1 AND expires_at > now() AND used_at > now() - ${IDLE}`,
      values: [sessionId],
    });
    return rowCount === 1;
  };
  return {
    begin: async ({ sessionId, userId, accountId, passwordId, secondFactorId }, lifetimeSeconds) => {
      await db.query({
        name: 'begin_session',
        text: `INSERT INTO operations.sessions (id, user_id, account_id, password_id, second_factor_id, expires_at)
        VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')`,
        values: [sessionId, userId, accountId, passwordId, secondFactorId, lifetimeSeconds],
      });
    },
    find: async (sessionId) => {
      const { rows } = await db.query<Row>({
        name: 'find_session',
        text: `SELECT id, user_id, account_id, password_id, second_factor_id FROM operations.sessions
        WHERE id = $1 AND expires_at > now()`,
        values: [sessionId],
      });
      const session = rows[0] ? fromRow(rows[0]) : null;
      return session === null || session.accountId !== null || (await use(sessionId)) ? session : null;
    },
    look: async (sessionId) => {
      const { rows } = await db.query<Row>({
        name: 'look_at_session',
        text: `SELECT id, user_id, account_id, password_id, second_factor_id FROM operations.sessions
        WHERE id = $1 AND expires_at > now() AND (account_id IS NOT NULL OR used_at > now() - ${IDLE})`,
        values: [sessionId],
      });
      return rows[0] ? fromRow(rows[0]) : null;
    },
    carryOver: async ({ sessionId, passwordId, secondFactorId }) => {
      await db.query('UPDATE operations.sessions SET password_id = $2, second_factor_id = $3 WHERE id = $1', [
        sessionId,
        passwordId,
        secondFactorId,
      ]);
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
      await db.query(
        `DELETE FROM operations.sessions WHERE expires_at < now() OR (account_id IS NULL AND used_at < now() - ${IDLE})`,
      );
    },
  };
};

/** How long a failed login counts. */
const WINDOW = "interval '15 minutes'";

/** The table holds a keyed hash of each subject, so that it does not reveal users or addresses. */
export const loginFailures = (db: Sql, keyring: SecretsKeyring): LoginFailures => {
  const key = keyring.keyFor('login failures', keyring.sealingId) as Buffer;
  const keyed = (subject: string): string => createHmac('sha256', key).update(subject.toLowerCase()).digest('hex');
  return {
    count: async (subject) => {
      const { rows } = await db.query<{ count: number }>({
        name: 'count_login_failures',
        text: `SELECT count(*)::int AS count FROM operations.login_failures
          WHERE subject = $1 AND failed_at > now() - ${WINDOW}`,
        values: [keyed(subject)],
      });
      return rows[0]?.count ?? 0;
    },
    record: async (subject) => {
      await db.query({
        name: 'record_login_failure',
        text: 'INSERT INTO operations.login_failures (subject) VALUES ($1)',
        values: [keyed(subject)],
      });
    },
    removeOne: async (subject) => {
      await db.query({
        name: 'remove_login_failure',
        text: `DELETE FROM operations.login_failures WHERE ctid = (
          SELECT ctid FROM operations.login_failures WHERE subject = $1
          ORDER BY failed_at DESC LIMIT 1 FOR UPDATE SKIP LOCKED)`,
        values: [keyed(subject)],
      });
    },
    forgetOld: async () => {
      await db.query(`DELETE FROM operations.login_failures WHERE failed_at < now() - ${WINDOW}`);
    },
  };
};
