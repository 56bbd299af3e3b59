// The secrets keys of a process: SECRETS_KEY and SECRETS_KEY_FALLBACKS, or a key that the first start creates in DATA_DIR (rule S6).
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Sql } from '../../application/ports/sql.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { SECRETS_KEY_BYTES, type Sealed, SecretsKeyring } from './keyring.ts';
import { readIfThere, writeWhole } from './privateFiles.ts';

const fileOf = (dataDir: string): string => join(dataDir, 'secrets.key');

/** Returns the file's keys, one per line. Throws ConfigError if the file contains anything else. */
const keysIn = (text: string, path: string): readonly [Buffer, ...Buffer[]] => {
  const keys = text
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line.trim(), 'base64'));
  if (keys.some(({ length }) => length !== SECRETS_KEY_BYTES))
    throw new ConfigError(`SECRETS_KEY is not set and ${path} does not contain 32 bytes in base64: restore that file`);
  return keys as [Buffer, ...Buffer[]];
};

/**
 * Returns the keyring for a tool beside the running programs, or null if only the programs' environment has it or it does not exist yet.
 * Creates no key.
 */
export const knownKeyring = async (config: Config): Promise<SecretsKeyring | null> => {
  const { secretsKey, secretsKeyFallbacks, databaseUrl, dataDir } = config;
  if (secretsKey !== null) return new SecretsKeyring([secretsKey, ...secretsKeyFallbacks]);
  if (databaseUrl !== null) return null;
  const path = fileOf(dataDir);
  const text = await readIfThere(path);
  return text === null ? null : new SecretsKeyring(keysIn(text, path));
};

/** Returns the keyring for a command that needs it. Throws ConfigError if the environment lacks it. */
export const requiredKeyring = async (config: Config): Promise<SecretsKeyring> => {
  const keyring = await knownKeyring(config);
  if (keyring === null)
    throw new ConfigError('set SECRETS_KEY and SECRETS_KEY_FALLBACKS to the values that the programs use');
  return keyring;
};

/** Returns the keyring of a program. With the embedded database, the first start creates a key. */
export const keyringOf = async (config: Config): Promise<SecretsKeyring> => {
  const known = await knownKeyring(config);
  if (known !== null) return known;
  const key = randomBytes(SECRETS_KEY_BYTES);
  await writeWhole(fileOf(config.dataDir), `${key.toString('base64')}\n`);
  return new SecretsKeyring([key]);
};

// Checks that the keyring has the key that sealed this database's secrets.

export const CHECK_CONTEXT = 'secrets key check';

/** Returns whether the keyring opens this database's check value, or null if nothing was sealed yet. Changes nothing. */
export const opensWhatIsSealed = async (db: Sql, keyring: SecretsKeyring): Promise<boolean | null> => {
  const { rows } = await db.query<{ key_id: string; sealed: Buffer }>(
    'SELECT key_id, sealed FROM operations.secrets_key_check',
  );
  if (rows[0] === undefined) return null;
  const sealed: Sealed = { keyId: rows[0].key_id, sealed: rows[0].sealed };
  try {
    return keyring.unseal('key check', CHECK_CONTEXT, sealed) === CHECK_CONTEXT;
  } catch {
    return false;
  }
};

/** Returns whether the keyring belongs to this database. The first start seals a check value, which every later start must open. */
export const isRightKeyring = async (db: Sql, keyring: SecretsKeyring): Promise<boolean> => {
  const { keyId, sealed } = keyring.seal('key check', CHECK_CONTEXT, CHECK_CONTEXT);
  await db.query('INSERT INTO operations.secrets_key_check (key_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    keyId,
    sealed,
  ]);
  return (await opensWhatIsSealed(db, keyring)) === true;
};
