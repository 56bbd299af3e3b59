// Users' email addresses and password hashes, in PostgreSQL.
import type { Passwords, UserEmails } from '../../application/ports/logins.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { UserId } from '../../domain/kernel/ids.ts';

export const userEmails = (db: Sql): UserEmails => {
  const find = async (email: string): Promise<UserId | null> => {
    const { rows } = await db.query<{ user_id: UserId }>({
      name: 'find_user_by_email',
      text: 'SELECT user_id FROM operations.user_emails WHERE email = $1',
      values: [email.toLowerCase()],
    });
    return rows[0]?.user_id ?? null;
  };
  return {
    find,
    claim: async (email, userId) => {
      await db.query('INSERT INTO operations.user_emails (email, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        email.toLowerCase(),
        userId,
      ]);
      return (await find(email)) ?? userId;
    },
  };
};

export const passwords = (db: Sql): Passwords => ({
  keep: async (passwordId, userId, hash) => {
    await db.query('INSERT INTO operations.passwords (id, user_id, hash) VALUES ($1, $2, $3)', [
      passwordId,
      userId,
      hash,
    ]);
  },
  find: async (passwordId) => {
    const { rows } = await db.query<{ hash: string }>({
      name: 'find_password',
      text: 'SELECT hash FROM operations.passwords WHERE id = $1',
      values: [passwordId],
    });
    return rows[0]?.hash ?? null;
  },
  forgetOlder: async (userId, passwordId) => {
    await db.query(
      `DELETE FROM operations.passwords WHERE user_id = $1
        AND created_at < (SELECT created_at FROM operations.passwords WHERE id = $2)`,
      [userId, passwordId],
    );
  },
  forget: async (passwordId) => {
    await db.query('DELETE FROM operations.passwords WHERE id = $1', [passwordId]);
  },
});
