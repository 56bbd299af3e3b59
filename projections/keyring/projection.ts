// Read model of API keys: who a presented key belongs to.
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { isOf } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ApiKey, KeyringEvent } from '../../domain/keyring/keyring.ts';
import type { Projection } from '../engine/projection.ts';

const keysIssued = (event: KeyringEvent): readonly ApiKey[] => {
  switch (event.type) {
    case 'ApiKeyIssued':
      return [event.data];
    default:
      return event.type satisfies never;
  }
};

export const keyringProjection: Projection = {
  name: 'keyring',
  version: 1,
  categories: ['keyring'],
  tables: [{ name: 'api_keys', key: ['fingerprint'] }],
  ddl: (schema) => `CREATE TABLE ${schema}.api_keys (fingerprint text COLLATE "C" PRIMARY KEY, key_id text NOT NULL,
    account_id text COLLATE "C" NOT NULL, mode text NOT NULL, prefix text NOT NULL, label text, issued_at timestamptz NOT NULL);
    CREATE INDEX ON ${schema}.api_keys (account_id, issued_at);`,
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (events: readonly LoggedEvent[], tx: Sql) => {
      const keys = events.flatMap((logged) => (isOf(logged, 'keyring') ? keysIssued(logged.event) : []));
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
