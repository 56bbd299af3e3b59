// Rotating SECRETS_KEY: what is sealed under which key, and sealing it under the new one, beside processes that go on (rule S6).
import type { Sql } from '../../application/ports/sql.ts';
import type { SecretsKeyring } from './keyring.ts';
import { CHECK_CONTEXT } from './secretsKey.ts';
import { webhookSecretContext } from './webhookSecrets.ts';

/** Small, so that nobody who signs waits for the rows. */
const BATCH = 100;

/** Returns how many webhook secrets each key has sealed, by its id. */
export const countSealed = async (db: Sql): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await db.query<{ key_id: string; count: number }>(
    'SELECT key_id, count(*) AS count FROM operations.webhook_secrets GROUP BY key_id ORDER BY key_id',
  );
  return new Map(rows.map(({ key_id: keyId, count }) => [keyId, count]));
};

/** Returns the id of the key that a start is checked against; null when nothing was sealed yet. */
export const checkedKeyId = async (db: Sql): Promise<string | null> =>
  (await db.query<{ key_id: string }>('SELECT key_id FROM operations.secrets_key_check')).rows[0]?.key_id ?? null;

interface Row {
  readonly endpoint_id: string;
  readonly version: number;
  readonly key_id: string;
  readonly sealed: Buffer;
}

/**
 * Seals what other keys sealed under the keyring's sealing key, in batches; the word that starts are checked against comes last, so that a
 * start without the old key is refused for as long as that key is needed. Returns how many secrets were sealed anew. Killed at any moment,
 * a repeat goes on. Throws UnknownSecretsKey when the keyring lacks the key of a secret.
 */
export const resealSecrets = async (db: Sql, keyring: SecretsKeyring, signal?: AbortSignal): Promise<number> => {
  let count = 0;
  for (let after: Pick<Row, 'endpoint_id' | 'version'> = { endpoint_id: '', version: 0 }; signal?.aborted !== true; ) {
    const { rows } = await db.query<Row>(
      `SELECT endpoint_id, version, key_id, sealed FROM operations.webhook_secrets
       WHERE key_id <> $1 AND (endpoint_id, version) > ($2, $3) ORDER BY endpoint_id, version LIMIT $4`,
      [keyring.sealingId, after.endpoint_id, after.version, BATCH],
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    count += await resealRows(db, keyring, rows);
    after = last;
  }
  if (signal?.aborted !== true && (await isAllUnder(db, keyring.sealingId))) await resealCheck(db, keyring);
  return count;
};

/** A row that somebody else sealed anew meanwhile is left as it is. */
const resealRows = async (db: Sql, keyring: SecretsKeyring, rows: readonly Row[]): Promise<number> => {
  const resealed = rows.map(({ endpoint_id: endpointId, version, key_id: keyId, sealed }) => {
    const context = webhookSecretContext(endpointId, version);
    return keyring.seal('webhook secrets', context, keyring.unseal('webhook secrets', context, { keyId, sealed }));
  });
  const { rowCount } = await db.query(
    `UPDATE operations.webhook_secrets s SET key_id = $5, sealed = v.sealed
     FROM unnest($1::text[], $2::int[], $3::text[], $4::bytea[]) v (endpoint_id, version, key_id, sealed)
     WHERE s.endpoint_id = v.endpoint_id AND s.version = v.version AND s.key_id = v.key_id`,
    [
      rows.map((row) => row.endpoint_id),
      rows.map((row) => row.version),
      rows.map((row) => row.key_id),
      resealed.map(({ sealed }) => sealed),
      keyring.sealingId,
    ],
  );
  return rowCount ?? 0;
};

const isAllUnder = async (db: Sql, keyId: string): Promise<boolean> =>
  [...(await countSealed(db)).keys()].every((id) => id === keyId);

const resealCheck = async (db: Sql, keyring: SecretsKeyring): Promise<void> => {
  const { keyId, sealed } = keyring.seal('key check', CHECK_CONTEXT, CHECK_CONTEXT);
  await db.query('UPDATE operations.secrets_key_check SET key_id = $1, sealed = $2 WHERE key_id <> $1', [
    keyId,
    sealed,
  ]);
};
