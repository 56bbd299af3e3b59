// Accounts: opening one, and which there are.

import { randomBytes } from 'node:crypto';
import { addUser, isUser } from '../../application/accounts/addUser.ts';
import { newApiKey } from '../../application/accounts/newKey.ts';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import { defaultSettings } from '../../domain/account/account.ts';
import { settingProblems } from '../../domain/account/settingProblems.ts';
import { type AccountId, encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { accountViews } from '../../projections/accounts/queries.ts';
import { systemRandomness } from '../system/randomness.ts';
import { settings } from './accountSettings.ts';
import { type CliCommand, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';
import { emailOf, nameOf, PASSWORD_OPTION, passwordOf, userNeeds } from './userOptions.ts';

const create: CliCommand = {
  name: 'account create',
  summary: 'Open an account with its owner; prints its id, the password, a test key and a live key, once',
  args: [],
  options: {
    name: { description: 'the merchant’s name, as payers see it', required: true },
    email: { description: 'the owner’s e-mail address', required: true },
    password: PASSWORD_OPTION,
  },
  changes: 'always',
  run: async (world, { options }) => {
    const { commands, accounts, operator } = world;
    const [name, email, password] = [nameOf(options), emailOf(options), passwordOf(options)];
    const [problem] = settingProblems(defaultSettings(name));
    if (problem) throw new UsageError(`--name ${problem.message}`);
    const needs = userNeeds(world);
    if (await isUser(needs)(email)) throw new UsageError('there is a user with this --email already');
    const accountId = encodeRawId(randomBytes(16)) as AccountId;
    const [testApiKey, liveApiKey] = [newApiKey('test', systemRandomness), newApiKey('live', systemRandomness)];
    await openAccountWithKeys({ commands, accounts })({
      accountId,
      name,
      email,
      idSeed: randomBytes(32).toString('base64'),
      keys: [
        { mode: 'test', cleartext: testApiKey, label: 'first test key' },
        { mode: 'live', cleartext: liveApiKey, label: 'first live key' },
      ],
      actor: operator,
    });
    const owner = { accountId, email, name, role: 'OWNER', password } as const;
    const userId = await addUser(needs)(owner, { actor: operator, requestId: null });
    if (isRejection(userId)) throw new UsageError(userId.message);
    const json = {
      ...{ accountId: PREFIX.account + accountId, userId: PREFIX.user + userId },
      ...{ email, password, testApiKey, liveApiKey },
    };
    const text = `account   ${json.accountId}\nowner     ${email}\npassword  ${password}\ntest key  ${testApiKey}\nlive key  ${liveApiKey}\nThe password and the keys are shown only now.`;
    return { json, text };
  },
};

const list: CliCommand = {
  name: 'account list',
  summary: 'Every account, in the order of their opening',
  args: [],
  options: {},
  run: async ({ storage }) => {
    const all = (await accountViews(storage.reads).list()).map(({ accountId, ...rest }) => ({
      accountId: PREFIX.account + accountId,
      ...rest,
    }));
    const rows = all.map(({ accountId, name, email, openedAt }) => [openedAt, accountId, email, name]);
    const text = (screen: Screen) => table(screen, ['OPENED', 'ACCOUNT', 'OWNER', 'NAME'], rows);
    return { json: { accounts: all }, text: all.length > 0 ? text : 'no accounts' };
  },
};

export const accountCommands: readonly CliCommand[] = [create, list, settings];
