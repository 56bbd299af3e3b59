// The Ed25519 keys of the audit log in PostgreSQL. Private halves are sealed.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { AuditKey, AuditKeys } from '../../application/ports/auditKeys.ts';
import { asTimestamp, type SqlPool } from '../../application/ports/sql.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';

/** Binds a sealed key to its row. */
export const auditKeyContext = (id: number): string => `audit key ${id}`;

const COLUMNS = `id, public_key AS "publicKey", ${asTimestamp('created_at')} AS "createdAt"`;

/** Adds the key with the id, unless another process was faster. */
const ADD = `INSERT INTO audit.keys (id, public_key, key_id, sealed) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
  RETURNING ${COLUMNS}`;
const NEWEST = 'SELECT id, public_key, key_id, sealed FROM audit.keys ORDER BY id DESC LIMIT 1';

interface SealedRow {
  readonly id: number;
  readonly public_key: Buffer;
  readonly key_id: string;
  readonly sealed: Buffer;
}

/** `keyringOf` may throw ConfigError: the command line may not have the key. */
export const auditKeys = (db: SqlPool, keyringOf: () => Promise<SecretsKeyring>): AuditKeys => {
  let known: { readonly id: number; readonly key: KeyObject } | null = null;

  const newest = async (): Promise<SealedRow | null> => (await db.query<SealedRow>(NEWEST)).rows[0] ?? null;

  const add = async (id: number): Promise<AuditKey | null> => {
    const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    const { keyId, sealed } = (await keyringOf()).seal('audit keys', auditKeyContext(id), d);
    const { rows } = await db.query<AuditKey>(ADD, [id, Buffer.from(x, 'base64url'), keyId, sealed]);
    return rows[0] ?? null;
  };

  const signer = async (): Promise<KeyObject> => {
    let row = await newest();
    if (row === null) {
      await add(1);
      row = (await newest()) as SealedRow;
    }
    if (known?.id === row.id) return known.key;
    const sealed = { keyId: row.key_id, sealed: row.sealed };
    const d = (await keyringOf()).unseal('audit keys', auditKeyContext(row.id), sealed);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: row.public_key.toString('base64url'), d };
    known = { id: row.id, key: createPrivateKey({ key: jwk, format: 'jwk' }) };
    return known.key;
  };

  return {
    list: async () => (await db.query<AuditKey>(`SELECT ${COLUMNS} FROM audit.keys ORDER BY id`)).rows,
    signer,
    rotate: async (seen = null) => {
      for (;;) {
        const id = (await newest())?.id ?? 0;
        if (seen !== null && seen !== id) return null;
        const added = await add(id + 1);
        if (added !== null) return added;
      }
    },
  };
};
