// The key that seals secrets: SECRETS_KEY, or one made on the first start in the data directory (rule S6).
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Sql } from '../../application/ports/sql.ts';
import { type Config, ConfigError } from '../boot/config.ts';
import { readIfThere, writeWhole } from './privateFiles.ts';
import { seal, unseal } from './seal.ts';

const BYTES = 32;

const fileOf = (dataDir: string): string => join(dataDir, 'secrets.key');

/** For tools beside the programs: never made, nor made up. null: it is in the environment of the programs alone, or there is none yet. */
export const knownSecretsKey = async ({ secretsKey, databaseUrl, dataDir }: Config): Promise<Buffer | null> => {
  if (secretsKey) return secretsKey;
  if (databaseUrl !== null) return null;
  const path = fileOf(dataDir);
  const known = await readIfThere(path);
  if (known === null) return null;
  const key = Buffer.from(known.trim(), 'base64');
  if (key.length !== BYTES)
    throw new ConfigError(`SECRETS_KEY is unset and ${path} does not hold 32 bytes in base64: restore that file`);
  return key;
};

/** Of a program. */
export const secretsKeyOf = async (config: Config): Promise<Buffer> => {
  const known = await knownSecretsKey(config);
  if (known !== null) return known;
  const key = randomBytes(BYTES);
  await writeWhole(fileOf(config.dataDir), `${key.toString('base64')}\n`);
  return key;
};

// Whether SECRETS_KEY is the one that sealed what is in this database.

const CONTEXT = 'secrets key check';

/** Changes nothing. null: nothing was sealed yet. */
export const opensWhatIsSealed = async (db: Sql, key: Buffer): Promise<boolean | null> => {
  const { rows } = await db.query<{ sealed: Buffer }>('SELECT sealed FROM operations.secrets_key_check');
  if (rows[0] === undefined) return null;
  try {
    return unseal(key, CONTEXT, rows[0].sealed) === CONTEXT;
  } catch {
    return false;
  }
};

/** The first start seals a word; every later one must be able to read it. */
export const isRightSecretsKey = async (db: Sql, key: Buffer): Promise<boolean> => {
  await db.query('INSERT INTO operations.secrets_key_check (sealed) VALUES ($1) ON CONFLICT DO NOTHING', [
    seal(key, CONTEXT, CONTEXT),
  ]);
  return (await opensWhatIsSealed(db, key)) === true;
};
