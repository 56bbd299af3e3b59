// Finds the owner of an API key.
import type { KeyViews, KnownKey } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { readModel } from '../engine/readModel.ts';
import { keyringProjection } from './projection.ts';

const keyViews = (db: Sql): KeyViews => ({
  find: async (fingerprint) => {
    const { rows } = await db.query<KnownKey>({
      name: 'find_key',
      text: `SELECT key_id AS "keyId", account_id AS "accountId", mode, fingerprint FROM rm_keyring.api_keys WHERE fingerprint = $1`,
      values: [fingerprint],
    });
    return rows[0] ?? null;
  },
});

export const keyring = readModel({ projection: keyringProjection, views: (db) => ({ keys: keyViews(db) }) });
