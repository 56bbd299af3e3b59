// `secrets`: shows the keys that seal the signing secrets, and reseals them with the current SECRETS_KEY (rule S6).
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { checkedKeyId, countSealed, resealSecrets } from '../secrets/resealing.ts';
import { knownKeyring } from '../secrets/secretsKey.ts';
import { type CliCommand, type CliWorld, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';

const keyringHere = async ({ config }: CliWorld): Promise<SecretsKeyring> => {
  const keyring = await knownKeyring(config);
  if (keyring === null)
    throw new UsageError('set SECRETS_KEY and SECRETS_KEY_FALLBACKS to the values that the programs use');
  return keyring;
};

/** `seals`: SECRETS_KEY. `opens`: one of SECRETS_KEY_FALLBACKS. `missing`: neither, so its secrets can't be opened. */
type Use = 'seals' | 'opens' | 'missing';

interface KeyUse {
  readonly keyId: string;
  readonly use: Use;
  /** Number of secrets that the key seals. */
  readonly secrets: number;
  /** Whether programs refuse to start without the key. */
  readonly isChecked: boolean;
}

const useOf = (keyring: SecretsKeyring, keyId: string): Use => {
  if (keyId === keyring.sealingId) return 'seals';
  return keyring.has(keyId) ? 'opens' : 'missing';
};

const keysIn = async ({ storage: { operations } }: CliWorld, keyring: SecretsKeyring): Promise<readonly KeyUse[]> => {
  const counts = await countSealed(operations);
  const checked = await checkedKeyId(operations);
  const ids = new Set([...keyring.ids, ...counts.keys(), ...(checked === null ? [] : [checked])]);
  return [...ids].map((keyId) => {
    const secrets = counts.get(keyId) ?? 0;
    return { keyId, use: useOf(keyring, keyId), secrets, isChecked: keyId === checked };
  });
};

const keyTable = (screen: Screen, keys: readonly KeyUse[]): string =>
  table(
    screen,
    ['KEY', 'HERE', 'SECRETS', 'NEEDED'],
    keys.map(({ keyId, use, secrets, isChecked }) => [
      keyId,
      use,
      `${secrets} secrets`,
      use === 'seals' || secrets > 0 || isChecked ? 'needed' : 'may be removed',
    ]),
  );

const status: CliCommand = {
  name: 'secrets status',
  summary: 'Show which keys seal the signing secrets, and which of them are still needed',
  run: async (world) => {
    const keys = await keysIn(world, await keyringHere(world));
    const isBad = keys.some(({ use }) => use === 'missing');
    return { json: { keys }, text: (screen) => keyTable(screen, keys), isBad };
  },
};

const rotate: CliCommand = {
  name: 'secrets rotate',
  summary: 'Reseal all signing secrets with the current SECRETS_KEY while the programs run; run it again to continue',
  changes: 'always',
  run: async (world) => {
    const keyring = await keyringHere(world);
    const resealed = await resealSecrets(world.storage.operations, keyring, world.signal);
    const keys = await keysIn(world, keyring);
    const left = keys.filter(({ use, secrets, isChecked }) => use !== 'seals' && (secrets > 0 || isChecked));
    const done = `${resealed} secrets were resealed with ${keyring.sealingId}`;
    const rest = left.length === 0 ? 'no other key is needed' : 'another key is still needed: run the command again';
    return { json: { resealed, keys }, text: `${done}; ${rest}`, isBad: left.length > 0 };
  },
};

export const secretsCommands: readonly CliCommand[] = [status, rotate];
