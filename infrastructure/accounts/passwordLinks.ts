// Links to set a password, and requests for them, in PostgreSQL.

import { createHmac, hash } from 'node:crypto';
import type { JobQueue } from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { LinkPurpose, LinkRequest, PasswordLinks } from '../../application/ports/passwordLinks.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { PasswordId, UserId } from '../../domain/kernel/ids.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

interface RequestRow {
  readonly id: string;
  readonly purpose: LinkPurpose;
  readonly email: string;
}
const requestOf = ({ id, purpose, email }: RequestRow): LinkRequest => ({ requestId: id, purpose, email });

/** The database holds only the hash of a link's secret, so that its readers can't use the link. */
const hashOf = (token: string): string => hash('sha256', token, 'hex');

/** `jobs` is null for a tool: it enqueues no jobs, and the running program polls for requests every few seconds. */
export const linkRequests = (
  db: SqlPool,
  jobs: Pick<JobQueue, 'enqueue'> | null,
): Pick<PasswordLinks, 'request' | 'findRequest' | 'endRequest' | 'openRequests'> => ({
  request: async ({ requestId, purpose, email }, job) => {
    await db.transaction(async (tx) => {
      const { rowCount } = await tx.query(
        `INSERT INTO operations.password_link_requests (id, purpose, email) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [requestId, purpose, email.toLowerCase()],
      );
      if (rowCount > 0) await jobs?.enqueue([job], tx);
    });
  },
  findRequest: async (requestId) => {
    const { rows } = await db.query<RequestRow>(
      'SELECT id, purpose, email FROM operations.password_link_requests WHERE id = $1',
      [requestId],
    );
    return rows[0] ? requestOf(rows[0]) : null;
  },
  endRequest: async (requestId) => {
    await db.query('DELETE FROM operations.password_link_requests WHERE id = $1', [requestId]);
  },
  openRequests: (page) =>
    pagesOf(
      page,
      (last: RequestRow | null) =>
        db.query<RequestRow>(
          `SELECT id, purpose, email FROM operations.password_link_requests
           WHERE requested_at > now() - interval '1 day' AND id > $1 ORDER BY id LIMIT $2`,
          [last?.id ?? '', page],
        ),
      (rows) => rows.map(requestOf),
    ),
});

export const passwordLinks = (db: SqlPool, jobs: Pick<JobQueue, 'enqueue'>, keyring: SecretsKeyring): PasswordLinks => {
  const key = keyring.keyFor('password links', keyring.sealingId) as Buffer;
  return {
    ...linkRequests(db, jobs),
    tokenOf: (requestId) => createHmac('sha256', key).update(requestId).digest('base64url'),
    open: async (token, { userId, replaces }) => {
      await db.query(
        `INSERT INTO operations.password_links (hash, user_id, password_id, expires_at)
         VALUES ($1, $2, $3, now() + interval '1 hour')
         ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at`,
        [hashOf(token), userId, replaces],
      );
    },
    find: async (token) => {
      const { rows } = await db.query<{ user_id: UserId; password_id: PasswordId | null }>({
        name: 'find_password_link',
        text: 'SELECT user_id, password_id FROM operations.password_links WHERE hash = $1 AND expires_at > now()',
        values: [hashOf(token)],
      });
      return rows[0] ? { userId: rows[0].user_id, replaces: rows[0].password_id } : null;
    },
    countRecent: async (userId) => {
      const { rows } = await db.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM operations.password_links
         WHERE user_id = $1 AND opened_at > now() - interval '15 minutes'`,
        [userId],
      );
      return rows[0]?.count ?? 0;
    },
    forgetOld: async () => {
      await db.query('DELETE FROM operations.password_links WHERE expires_at < now()');
      await db.query("DELETE FROM operations.password_link_requests WHERE requested_at < now() - interval '1 day'");
    },
  };
};
