// Webhook signing secrets in Postgres, sealed.

import { LRUCache } from 'lru-cache';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { seal, unseal } from './seal.ts';

/** Secrets of a version never change, so that remembering them is safe. */
const REMEMBERED = 10_000;

export const webhookSecrets = (db: Sql, key: Buffer): WebhookSecrets => {
  const known = new LRUCache<string, string>({ max: REMEMBERED });
  const contextOf = (endpointId: string, version: number) => `webhook secret ${endpointId} ${version}`;
  const find: WebhookSecrets['find'] = async (endpointId, version) => {
    const context = contextOf(endpointId, version);
    const remembered = known.get(context);
    if (remembered !== undefined) return remembered;
    const { rows } = await db.query<{ sealed: Buffer }>(
      'SELECT sealed FROM operations.webhook_secrets WHERE endpoint_id = $1 AND version = $2',
      [endpointId, version],
    );
    if (!rows[0]) return null;
    const secret = unseal(key, context, rows[0].sealed);
    known.set(context, secret);
    return secret;
  };
  return {
    find,
    keep: async (endpointId, version, secret, tx = db) => {
      await tx.query(
        'INSERT INTO operations.webhook_secrets (endpoint_id, version, sealed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [endpointId, version, seal(key, contextOf(endpointId, version), secret)],
      );
      return (await find(endpointId, version)) ?? secret;
    },
  };
};
