// CLI commands of accounts, their keys and their users.

import { ACCOUNT } from '../../domain/account/account.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { USER } from '../../domain/user/user.ts';
import {
  accepted,
  accountIdOf,
  byOf,
  type CliCommand,
  emailOf,
  nameOf,
  PASSWORD_OPTION,
  passwordOf,
} from '../cli/command.ts';
import { type Screen, table } from '../cli/output.ts';
import { keyCommands } from './commands/keys.ts';
import { settingsCommand } from './commands/settings.ts';
import { userCommands } from './commands/users.ts';

// --- Commands that open and list accounts ---

const create: CliCommand = {
  name: 'account create',
  summary: 'Open an account and create its owner; prints the id, the password, a test key and a live key, only once',
  options: {
    name: { description: 'the merchant’s name, shown to payers', required: true },
    email: { description: 'the owner’s email address', required: true },
    password: PASSWORD_OPTION,
  },
  changes: 'always',
  run: async (world, { options }) => {
    const wish = { name: nameOf(options), email: emailOf(options), password: passwordOf(options) };
    const created = accepted(await world.platform.createAccount(wish, byOf(world)));
    const { password, testApiKey, liveApiKey } = created;
    const { email } = wish;
    const json = {
      ...{ accountId: ACCOUNT.idPrefix + created.accountId, userId: USER.idPrefix + created.userId },
      ...{ email, password, testApiKey, liveApiKey },
    };
    const text = `account   ${json.accountId}\nowner     ${email}\npassword  ${password}\ntest key  ${testApiKey}\nlive key  ${liveApiKey}\nThe password and the keys are shown only now.`;
    return { json, text };
  },
};

const list: CliCommand = {
  name: 'account list',
  summary: 'List all accounts, oldest first, with their status',
  reads: ['accounts'],
  run: async (world) => {
    const all = (await world.platform.listAccounts()).map(({ accountId, ...rest }) => ({
      accountId: ACCOUNT.idPrefix + accountId,
      ...rest,
    }));
    const rows = all.map(({ accountId, name, email, openedAt, suspendedAt }) => [
      openedAt,
      accountId,
      email,
      suspendedAt === null ? 'open' : `suspended since ${suspendedAt}`,
      name,
    ]);
    const text = (screen: Screen) => table(screen, ['OPENED', 'ACCOUNT', 'OWNER', 'STATUS', 'NAME'], rows);
    return { json: { accounts: all }, text: all.length > 0 ? text : 'no accounts' };
  },
};

// --- Commands that suspend and reopen accounts (rule O1) ---

const suspendCommand: CliCommand = {
  name: 'account suspend',
  summary:
    'Suspend an account: its keys and logins are rejected and its sessions end. Payments continue; cash-outs wait',
  args: [{ name: 'account' }],
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const { since } = accepted(await world.platform.suspendAccount(id, byOf(world)));
    const accountId = ACCOUNT.idPrefix + id;
    return { json: { accountId, suspendedAt: since }, text: `${accountId} has been suspended since ${since}` };
  },
};

const reopenCommand: CliCommand = {
  name: 'account reopen',
  summary: 'Reopen a suspended account: its keys and logins work again, and waiting cash-outs continue',
  args: [{ name: 'account' }],
  changes: 'always',
  run: async (world, { args }) => {
    const id = accountIdOf(args[0] as string);
    const done = accepted(await world.platform.reopenAccount(id, byOf(world)));
    const [accountId, isNew] = [ACCOUNT.idPrefix + id, done === 'reopened'];
    return { json: { accountId, isNew }, text: `${accountId} ${isNew ? 'is open again' : 'was not suspended'}` };
  },
};

export const commands = (declared: DeclaredSettings): readonly CliCommand[] => [
  create,
  list,
  settingsCommand(declared),
  suspendCommand,
  reopenCommand,
  ...keyCommands,
  ...userCommands,
];
