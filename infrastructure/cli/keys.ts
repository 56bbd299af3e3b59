// API keys of an account, as its operator sees to them (rule O1). A command that ends a key answers when no process takes it any more.

import {
  issueApiKey,
  type KeyNeeds,
  listApiKeys,
  type NewKey,
  revokeApiKey,
  rotateApiKey,
  whenKeyFound,
} from '../../application/accounts/manageKeys.ts';
import { shownFingerprint } from '../../application/accounts/newKey.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { type KeyId, PREFIX, parsePrefixedId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { ApiKey } from '../../domain/keyring/keyring.ts';
import { viewsOf } from '../../projections/registry.ts';
import { keyUseReads } from '../accounts/keyUses.ts';
import { systemRandomness, systemStopwatch } from '../system/system.ts';
import { type CliCommand, type CliInput, type CliResult, type CliWorld, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';
import { accountIdOf } from './typed.ts';

const ACCOUNT_ARG = { name: 'account' } as const;
const KEY_ARG = { name: 'key' } as const;

const keyIdOf = (text: string): KeyId => {
  const id = parsePrefixedId<KeyId>(text, PREFIX.key);
  if (id === null) throw new UsageError(`"${text}" is no API key: a key_ id, as key list shows it`);
  return id;
};

/** Another process writes the read models, and tells nobody here when they move. */
const needsOf = ({ commands, accounts, leases, storage }: CliWorld): KeyNeeds => {
  const projected = { onMove: () => () => undefined };
  const whenFound = whenKeyFound({ stopwatch: systemStopwatch, projected, views: viewsOf(storage.reads) });
  return { commands, accounts, leases, randomness: systemRandomness, whenFound };
};
const by = ({ operator }: CliWorld) => ({ actor: operator, requestId: null });

const accepted = <Reply>(done: Reply | Rejection): Reply => {
  if (isRejection(done)) throw new UsageError(done.message);
  return done;
};

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
  summary: 'Issue an API key; prints it, once',
  args: [ACCOUNT_ARG],
  options: {
    test: { description: 'a test key, for the sandbox; default: a live one', flag: true },
    label: { description: 'what it is for, at most 64 characters' },
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
  summary:
    'The API keys of an account that work, in the order of their issue, and when they were last used, to the minute',
  args: [ACCOUNT_ARG],
  options: {},
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
  summary: 'Replace an API key by a new one of its mode; prints that, once. The old one is dead when the command ends',
  args: [ACCOUNT_ARG, KEY_ARG],
  options: { label: { description: 'another label; default: that of the old key' } },
  changes: 'always',
  run: async (world, input) => {
    const [account, key] = input.args as readonly [string, string];
    const rotated = rotateApiKey(needsOf(world))(accountIdOf(account), keyIdOf(key), labelOf(input), by(world));
    return newKey(accepted(await rotated));
  },
};

const revoke: CliCommand = {
  name: 'key revoke',
  summary: 'Revoke an API key for good. It is dead when the command ends',
  args: [ACCOUNT_ARG, KEY_ARG],
  options: {},
  changes: 'always',
  run: async (world, { args }) => {
    const [account, key] = args as readonly [string, string];
    const revoked = shown(accepted(await revokeApiKey(world)(accountIdOf(account), keyIdOf(key), by(world))));
    return { json: { ...revoked, revoked: true }, text: `${revoked.keyId} (${revoked.prefix}) is revoked` };
  },
};

export const keyCommands: readonly CliCommand[] = [issue, list, rotate, revoke];
