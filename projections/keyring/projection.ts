// Read model of working API keys, which finds the owner of a presented key.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { KeyId } from '../../domain/kernel/ids.ts';
import { type ApiKey, KEYRING, type KeyringEvent } from '../../domain/keyring/keyring.ts';
import type { Projection } from '../engine/projection.ts';

const changeOf = (event: KeyringEvent): { readonly issued: ApiKey | null; readonly ended: KeyId | null } => {
  switch (event.type) {
    case 'ApiKeyIssued':
      return { issued: event.data, ended: null };
    case 'ApiKeyRotated':
      return { issued: event.data.key, ended: event.data.replaced };
    case 'ApiKeyRevoked':
      return { issued: null, ended: event.data.keyId };
    default:
      return event satisfies never;
  }
};

export const keyringProjection: Projection<'keyring'> = {
  name: 'keyring',
  version: 2,
  categories: ['keyring'],
  isByAccount: true,
  tables: [{ name: 'api_keys', key: ['fingerprint'] }],
  ddl: (schema) => `CREATE TABLE ${schema}.api_keys (fingerprint text COLLATE "C" PRIMARY KEY, key_id text NOT NULL,
    account_id text COLLATE "C" NOT NULL, mode text NOT NULL, prefix text NOT NULL, label text, issued_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.api_keys (key_id);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const changes = events.flatMap((logged) => (isOf(logged, KEYRING) ? [changeOf(logged.event)] : []));
      // An ended key is never issued again, so keys that ended within this batch need not be inserted first.
      const ended = new Set(changes.flatMap(({ ended: id }) => id ?? []));
      const keys = changes.flatMap(({ issued }) => (issued && !ended.has(issued.keyId) ? [issued] : []));
      if (ended.size > 0) await tx.query(`DELETE FROM ${schema}.api_keys WHERE key_id = ANY($1::text[])`, [[...ended]]);
      if (keys.length === 0) return;
      await tx.query(
        `INSERT INTO ${schema}.api_keys (fingerprint, key_id, account_id, mode, prefix, label, issued_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
         ON CONFLICT (fingerprint) DO NOTHING`,
        [
          keys.map((key) => key.fingerprint),
          keys.map((key) => key.keyId),
          keys.map((key) => key.accountId),
          keys.map((key) => key.mode),
          keys.map((key) => key.prefix),
          keys.map((key) => key.label),
          keys.map((key) => key.issuedAt),
        ],
      );
    },
  }),
};
