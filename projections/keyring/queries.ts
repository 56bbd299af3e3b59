// Who an API key belongs to.
import type { Sql } from '../../application/ports/sql.ts';
import type { AccountId, KeyId, Mode } from '../../domain/kernel/ids.ts';

export interface KnownKey {
  readonly keyId: KeyId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  /** SHA-256 of the key, 64 hex characters. */
  readonly fingerprint: string;
}

export const findKey = async (db: Sql, fingerprint: string): Promise<KnownKey | null> => {
  const { rows } = await db.query<KnownKey>({
    name: 'find_key',
    text: `SELECT key_id AS "keyId", account_id AS "accountId", mode, fingerprint FROM rm_keyring.api_keys WHERE fingerprint = $1`,
    values: [fingerprint],
  });
  return rows[0] ?? null;
};
