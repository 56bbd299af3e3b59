// Sealed secrets of provider connections in PostgreSQL.
import type { ConnectionVault } from '../../application/ports/connectionWork.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { StoredSecret } from '../../domain/providerConnection/secrets.ts';
import type { SecretsKeyring } from './keyring.ts';

/** Binds a sealed secret to its connection, kind and version. */
export const connectionSecretContext = (connectionId: string, kind: string, version: number): string =>
  `connection secret ${connectionId} ${kind} ${version}`;

/** Number of attempts to find a version that no other process takes at the same time. */
const ATTEMPTS = 10;

/** `keyringOf` may throw ConfigError: the command line may not have the key. */
export const connectionVault = (db: Sql, keyringOf: () => Promise<SecretsKeyring>): ConnectionVault => ({
  keep: async (connectionId, kind, secret) => {
    const keyring = await keyringOf();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { rows } = await db.query<{ next: number }>(
        `SELECT coalesce(max(version), 0)::int + 1 AS next FROM operations.connection_secrets
         WHERE connection_id = $1 AND kind = $2`,
        [connectionId, kind],
      );
      const version = rows[0]?.next ?? 1;
      const { keyId, sealed } = keyring.seal(
        'connection secrets',
        connectionSecretContext(connectionId, kind, version),
        secret,
      );
      const { rowCount } = await db.query(
        `INSERT INTO operations.connection_secrets (connection_id, kind, version, key_id, sealed)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
        [connectionId, kind, version, keyId, sealed],
      );
      if (rowCount === 1) return version;
    }
    throw new Error(`the secret of connection ${connectionId} could not be stored: other processes were faster`);
  },
  find: async (connectionId, kind, version) => {
    const { rows } = await db.query<{ key_id: string; sealed: Buffer }>(
      'SELECT key_id, sealed FROM operations.connection_secrets WHERE connection_id = $1 AND kind = $2 AND version = $3',
      [connectionId, kind, version],
    );
    if (!rows[0]) return null;
    const { key_id: keyId, sealed } = rows[0];
    const context = connectionSecretContext(connectionId, kind, version);
    return (await keyringOf()).unseal('connection secrets', context, { keyId, sealed });
  },
  stored: async (connectionId) => {
    const text = 'SELECT kind, version FROM operations.connection_secrets WHERE connection_id = $1';
    return (await db.query<StoredSecret>(text, [connectionId])).rows;
  },
  forgetBefore: async (connectionId, kind, version) => {
    await db.query(
      'DELETE FROM operations.connection_secrets WHERE connection_id = $1 AND kind = $2 AND version < $3',
      [connectionId, kind, version],
    );
  },
  forget: async (connectionId) => {
    await db.query('DELETE FROM operations.connection_secrets WHERE connection_id = $1', [connectionId]);
  },
});
