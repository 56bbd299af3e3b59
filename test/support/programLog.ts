// Reads and writes events of a running program from outside, with the program’s data keys.
import { JsonEventCodec } from '../../application/core/eventCodec.ts';
import type { EventCodec } from '../../application/ports/eventCodec.ts';
import { loadToolConfig } from '../../infrastructure/config/config.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { PostgresDataKeys } from '../../infrastructure/secrets/dataKeys.ts';
import type { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import { knownKeyring } from '../../infrastructure/secrets/secretsKey.ts';

export interface ProgramCodec {
  readonly codec: EventCodec;
  close(): Promise<void>;
}

/** `isStoredByAppends`: whether the log is in the same database. */
export const codecWith = (
  connectionString: string,
  keyring: SecretsKeyring | null,
  isStoredByAppends = true,
): ProgramCodec => {
  const pool = new PgPool(connectionConfig(connectionString, 'quita test'), 1, () => undefined);
  const codec = new JsonEventCodec(new PostgresDataKeys(pool, keyring, isStoredByAppends));
  return { codec, close: () => pool.close() };
};

/** Returns the codec of the program with this data directory. */
export const programCodec = async (
  connectionString: string,
  dataDir: string,
  isStoredByAppends = true,
): Promise<ProgramCodec> =>
  codecWith(connectionString, await knownKeyring(loadToolConfig({ DATA_DIR: dataDir })), isStoredByAppends);
