// The key that seals secrets: SECRETS_KEY, or one made on the first start in the data directory (decisions S6).
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.ts';
import { readIfThere, writeWhole } from './files.ts';

const BYTES = 32;

export const secretsKeyOf = async ({ secretsKey, dataDir }: Config): Promise<Buffer> => {
  if (secretsKey) return secretsKey;
  const path = join(dataDir, 'secrets.key');
  const known = await readIfThere(path);
  if (known === null) {
    const key = randomBytes(BYTES);
    await writeWhole(path, `${key.toString('base64')}\n`);
    return key;
  }
  const key = Buffer.from(known.trim(), 'base64');
  if (key.length !== BYTES)
    throw new ConfigError(`SECRETS_KEY is unset and ${path} does not hold 32 bytes in base64: restore that file`);
  return key;
};
