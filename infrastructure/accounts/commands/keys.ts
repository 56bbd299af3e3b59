// API keys of an account, managed by an operator (rule O1). Commands that end a key return only when every process rejects it.

import { shownFingerprint } from '../../../application/accounts/apiKeys.ts';
import {
  issueApiKey,
  type KeyNeeds,
  listApiKeys,
  type NewKey,
  revokeApiKey,
  rotateApiKey,
  whenKeyFound,
} from '../../../application/accounts/manageKeys.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { type KeyId, PREFIX, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import type { ApiKey } from '../../../domain/keyring/keyring.ts';
import { viewsOf } from '../../../projections/registry.ts';
import {
  accepted,
  accountIdOf,
  type CliCommand,
  type CliInput,
  type CliResult,
  type CliWorld,
  UsageError,
} from '../../cli/command.ts';
import { type Screen, table } from '../../cli/output.ts';
import { systemRandomness, systemStopwatch } from '../../system/system.ts';
import { keyUseReads } from '../keyUses.ts';

const ACCOUNT_ARG = { name: 'account' } as const;
const KEY_ARG = { name: 'key' } as const;

const keyIdOf = (text: string): KeyId => {
  const id = parsePrefixedId<KeyId>(text, PREFIX.key);
  if (id === null) throw new UsageError(`"${text}" is not an API key id (key_…); key list shows them`);
  return id;
};

/** Another process writes the read models, so this one gets no notice when they change. */
const needsOf = ({ commands, accounts, leases, storage }: CliWorld): KeyNeeds => {
  const projected = { onMove: () => () => undefined };
  const whenFound = whenKeyFound({ stopwatch: systemStopwatch, projected, views: viewsOf(storage.reads) });
  return { commands, accounts, leases, randomness: systemRandomness, whenFound };
};
const by = ({ operator }: CliWorld) => ({ actor: operator, requestId: null });

const shown = ({ keyId, accountId, prefix, label, mode, issuedAt, fingerprint }: ApiKey) => ({
  keyId: PREFIX.key + keyId,
  accountId: ACCOUNT.idPrefix + accountId,
  prefix,
  label,
  mode,
  createdAt: issuedAt,
  fingerprint: shownFingerprint(fingerprint),
});

const newKey = ({ key, cleartext }: NewKey): CliResult => {
  const json = { ...shown(key), apiKey: cleartext };
  const text = `key          ${json.keyId}\nAPI key      ${cleartext}\nfingerprint  ${json.fingerprint}\nThe API key is shown only now.`;
  return { json, text };
};

const labelOf = ({ options }: CliInput): string | undefined =>
  typeof options['label'] === 'string' ? options['label'] : undefined;

const issue: CliCommand = {
  name: 'key issue',
  summary: 'Issue an API key; prints it only once',
  args: [ACCOUNT_ARG],
  options: {
    test: { description: 'issue a test key for the sandbox (default: a live key)', flag: true },
    label: { description: 'a label for the key, at most 64 characters' },
  },
  changes: 'always',
  run: async (world, input) => {
    const wish = { mode: input.options['test'] ? 'test' : 'live', label: labelOf(input) ?? null } as const;
    const accountId = accountIdOf(input.args[0] as string);
    return newKey(accepted(await issueApiKey(needsOf(world))(accountId, wish, by(world))));
  },
};

const HEAD = ['ISSUED', 'KEY', 'PREFIX', 'MODE', 'LAST USED', 'LABEL'];

const list: CliCommand = {
  name: 'key list',
  summary: 'List the active API keys of an account, oldest first, with the minute of their last use',
  args: [ACCOUNT_ARG],
  run: async (world, { args }) => {
    const keys = await listApiKeys(world)(accountIdOf(args[0] as string));
    const lastUsed = await keyUseReads(world.storage.operations).lastUsed(keys.map(({ keyId }) => keyId));
    const all = keys.map((key) => ({ ...shown(key), lastUsedAt: lastUsed.get(key.keyId) ?? null }));
    const text = (screen: Screen) =>
      table(
        screen,
        HEAD,
        all.map((key) => [key.createdAt, key.keyId, key.prefix, key.mode, key.lastUsedAt ?? 'never', key.label ?? '']),
      );
    return { json: { keys: all }, text: all.length > 0 ? text : 'no keys' };
  },
};

const rotate: CliCommand = {
  name: 'key rotate',
  summary:
    'Replace an API key with a new one of the same mode; prints it only once. The old key stops working before the command ends',
  args: [ACCOUNT_ARG, KEY_ARG],
  options: { label: { description: 'label of the new key (default: the old key’s label)' } },
  changes: 'always',
  run: async (world, input) => {
    const [account, key] = input.args as readonly [string, string];
    const rotated = rotateApiKey(needsOf(world))(accountIdOf(account), keyIdOf(key), labelOf(input), by(world));
    return newKey(accepted(await rotated));
  },
};

const revoke: CliCommand = {
  name: 'key revoke',
  summary: 'Revoke an API key permanently. It stops working before the command ends',
  args: [ACCOUNT_ARG, KEY_ARG],
  changes: 'always',
  run: async (world, { args }) => {
    const [account, key] = args as readonly [string, string];
    const revoked = shown(accepted(await revokeApiKey(world)(accountIdOf(account), keyIdOf(key), by(world))));
    return { json: { ...revoked, revoked: true }, text: `${revoked.keyId} (${revoked.prefix}) is revoked` };
  },
};

export const keyCommands: readonly CliCommand[] = [issue, list, rotate, revoke];
