// Rotation of SECRETS_KEY while processes run: counts the secrets of each key, and reseals them with the new key (rule S6).
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { auditKeyContext } from '../audit/auditKeys.ts';
import { callbackContext } from '../providers/callbackBodies.ts';
import { connectionSecretContext } from './connectionSecrets.ts';
import { dataSecretContext } from './dataKeys.ts';
import type { Purpose, SecretsKeyring } from './keyring.ts';
import { secondFactorContext } from './secondFactors.ts';
import { CHECK_CONTEXT } from './secretsKey.ts';
import { webhookSecretContext } from './webhookSecrets.ts';

/** Rows per statement; small, so that no request waits long for the rows. */
const BATCH = 100;

/** A table of sealed secrets, with the columns `key_id` and `sealed` beside its primary key. */
interface SealedTable {
  readonly name: string;
  readonly purpose: Purpose;
  /** The columns of the primary key, each with a value that sorts before all others, and its type. */
  readonly key: {
    readonly [column: string]: readonly [first: string | number | Buffer, type: 'text' | 'int' | 'bytea'];
  };
  readonly contextOf: (row: Row) => string;
}
interface Row {
  readonly key_id: string;
  readonly sealed: Buffer;
  readonly [column: string]: unknown;
}
const TABLES: readonly SealedTable[] = [
  {
    name: 'operations.webhook_secrets',
    purpose: 'webhook secrets',
    key: { endpoint_id: ['', 'text'], version: [0, 'int'] },
    contextOf: ({ endpoint_id: endpointId, version }) => webhookSecretContext(String(endpointId), Number(version)),
  },
  {
    name: 'operations.connection_secrets',
    purpose: 'connection secrets',
    key: { connection_id: ['', 'text'], kind: ['', 'text'], version: [0, 'int'] },
    contextOf: ({ connection_id: connectionId, kind, version }) =>
      connectionSecretContext(String(connectionId), String(kind), Number(version)),
  },
  {
    name: 'operations.second_factors',
    purpose: 'second factors',
    key: { id: ['', 'text'] },
    contextOf: ({ id }) => secondFactorContext(String(id)),
  },
  {
    name: 'operations.provider_callbacks',
    purpose: 'callbacks',
    key: { connection_id: ['', 'text'], body_hash: [Buffer.alloc(0), 'bytea'] },
    contextOf: ({ connection_id: connectionId, body_hash: hash }) =>
      callbackContext({ connection_id: String(connectionId), body_hash: hash as Buffer }),
  },
  {
    name: 'privacy.data_secrets',
    purpose: 'data keys',
    key: { id: [0, 'int'] },
    contextOf: ({ id }) => dataSecretContext(Number(id)),
  },
  {
    name: 'audit.keys',
    purpose: 'audit keys',
    key: { id: [0, 'int'] },
    contextOf: ({ id }) => auditKeyContext(Number(id)),
  },
];

/** Returns the number of secrets sealed by each key, by key id. */
export const countSealed = async (db: Sql): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await db.query<{ key_id: string; count: number }>(
    `SELECT key_id, count(*) AS count FROM (${TABLES.map(({ name }) => `SELECT key_id FROM ${name}`).join(' UNION ALL ')}) sealed
     WHERE key_id IS NOT NULL GROUP BY key_id ORDER BY key_id`,
  );
  return new Map(rows.map(({ key_id: keyId, count }) => [keyId, count]));
};

/** Returns the id of the key that a start is checked against, or null if nothing was sealed yet. */
export const checkedKeyId = async (db: Sql): Promise<string | null> =>
  (await db.query<{ key_id: string }>('SELECT key_id FROM operations.secrets_key_check')).rows[0]?.key_id ?? null;

/**
 * Reseals, in batches, the secrets of other keys with the keyring's sealing key. The check value for starts comes last, so that a start
 * without the old key fails for as long as that key is needed. Returns the number of resealed secrets. After a kill, another run
 * continues. Throws UnknownSecretsKey if the keyring lacks the key of a secret.
 */
export const resealSecrets = async (db: Sql, keyring: SecretsKeyring, signal?: AbortSignal): Promise<number> => {
  let count = 0;
  for (const table of TABLES) count += await resealTable(db, keyring, table, signal);
  if (signal?.aborted !== true && (await isAllUnder(db, keyring.sealingId))) await resealCheck(db, keyring);
  return count;
};

const resealTable = async (
  db: Sql,
  keyring: SecretsKeyring,
  table: SealedTable,
  signal?: AbortSignal,
): Promise<number> => {
  const columns = Object.keys(table.key);
  const names = columns.join(', ');
  const places = columns.map((_, index) => `$${index + 3}`).join(', ');
  const first = Object.values(table.key).map(([value]) => value);
  const pageAfter = (last: Row | null) =>
    db.query<Row>(
      `SELECT ${names}, key_id, sealed FROM ${table.name}
       WHERE key_id <> $1 AND (${names}) > (${places}) ORDER BY ${names} LIMIT $2`,
      [keyring.sealingId, BATCH, ...(last === null ? first : columns.map((column) => last[column]))],
    );
  let count = 0;
  for await (const rows of pagesOf(BATCH, pageAfter, (all) => all)) {
    if (signal?.aborted || rows.length === 0) break;
    count += await resealRows(db, keyring, table, rows);
  }
  return count;
};

/** A row that another process resealed in the meantime is left unchanged. */
const resealRows = async (
  db: Sql,
  keyring: SecretsKeyring,
  { name, purpose, key, contextOf }: SealedTable,
  rows: readonly Row[],
): Promise<number> => {
  const resealed = rows.map((row) => {
    const context = contextOf(row);
    return keyring.seal(
      purpose,
      context,
      keyring.unsealBytes(purpose, context, { keyId: row.key_id, sealed: row.sealed }),
    );
  });
  const columns = Object.entries(key);
  const arrays = columns.map(([, [, type]], index) => `$${index + 4}::${type}[]`).join(', ');
  const names = columns.map(([column]) => column).join(', ');
  const isSame = columns.map(([column]) => `s.${column} = v.${column}`).join(' AND ');
  const { rowCount } = await db.query(
    `UPDATE ${name} s SET key_id = $1, sealed = v.sealed
     FROM unnest($2::text[], $3::bytea[], ${arrays}) v (key_id, sealed, ${names})
     WHERE ${isSame} AND s.key_id = v.key_id`,
    [
      keyring.sealingId,
      rows.map((row) => row.key_id),
      resealed.map(({ sealed }) => sealed),
      ...columns.map(([column]) => rows.map((row) => row[column])),
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
