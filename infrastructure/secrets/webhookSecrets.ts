// Sealed webhook signing secrets in PostgreSQL.

import { boundedCache } from '../../application/ports/boundedCache.ts';
import type { WebhookSecrets } from '../../application/ports/secrets.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { SecretsKeyring } from './keyring.ts';

/** Number of remembered secrets. The secret of a version never changes, so caching it is safe. */
const REMEMBERED = 10_000;

/** Binds a sealed secret to its endpoint and version. */
export const webhookSecretContext = (endpointId: string, version: number): string =>
  `webhook secret ${endpointId} ${version}`;

export const webhookSecrets = (db: Sql, keyring: SecretsKeyring): WebhookSecrets & { forgetAll(): void } => {
  const known = boundedCache<string, string>(REMEMBERED);
  const find: WebhookSecrets['find'] = async (endpointId, version) => {
    const context = webhookSecretContext(endpointId, version);
    const remembered = known.get(context);
    if (remembered !== undefined) return remembered;
    const { rows } = await db.query<{ key_id: string; sealed: Buffer }>(
      'SELECT key_id, sealed FROM operations.webhook_secrets WHERE endpoint_id = $1 AND version = $2',
      [endpointId, version],
    );
    if (!rows[0]) return null;
    const { key_id: keyId, sealed } = rows[0];
    const secret = keyring.unseal('webhook secrets', context, { keyId, sealed });
    known.set(context, secret);
    return secret;
  };
  return {
    find,
    /** Clears the cache, because after a restore of the database a version may have been created again. */
    forgetAll: () => known.clear(),
    keep: async (endpointId, version, secret, tx = db) => {
      const { keyId, sealed } = keyring.seal('webhook secrets', webhookSecretContext(endpointId, version), secret);
      await tx.query(
        `INSERT INTO operations.webhook_secrets (endpoint_id, version, key_id, sealed) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING`,
        [endpointId, version, keyId, sealed],
      );
      return (await find(endpointId, version)) ?? secret;
    },
    forgetBefore: async (endpointId, version) => {
      const text = 'DELETE FROM operations.webhook_secrets WHERE endpoint_id = $1 AND version < $2';
      await db.query(text, [endpointId, version]);
    },
    forget: async (endpointIds, tx = db) => {
      await tx.query('DELETE FROM operations.webhook_secrets WHERE endpoint_id = ANY($1::text[])', [endpointIds]);
    },
  };
};
