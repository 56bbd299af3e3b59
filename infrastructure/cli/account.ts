// Accounts.
import { randomBytes } from 'node:crypto';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import { type AccountId, encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';
import { listAccounts } from '../../projections/accounts/queries.ts';
import { newApiKey } from '../secrets/newSecrets.ts';
import { accountSettings } from './accountSettings.ts';
import { type CliCommand, UsageError } from './command.ts';

const NAME_LENGTH_MAX = 200;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

const create: CliCommand = {
  name: 'account create',
  summary: 'Open an account; prints its id, a test key and a live key, once',
  args: [],
  options: {
    name: { description: 'the merchant’s name, as payers see it', required: true },
    email: { description: 'the owner’s e-mail address', required: true },
  },
  changes: 'always',
  run: async ({ commands, accounts, operator }, { options }) => {
    const [name, email] = [String(options['name']).trim(), String(options['email']).trim()];
    if (name === '' || name.length > NAME_LENGTH_MAX)
      throw new UsageError(`--name must have 1 to ${NAME_LENGTH_MAX} characters`);
    if (!EMAIL.test(email)) throw new UsageError('--email must be an e-mail address');
    const accountId = encodeRawId(randomBytes(16)) as AccountId;
    const [testApiKey, liveApiKey] = [newApiKey('test'), newApiKey('live')];
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
    const json = { accountId: PREFIX.account + accountId, email, testApiKey, liveApiKey };
    const text = `account   ${json.accountId}\nowner     ${email}\ntest key  ${testApiKey}\nlive key  ${liveApiKey}\nThe keys are shown only now.`;
    return { json, text };
  },
};

const list: CliCommand = {
  name: 'account list',
  summary: 'Every account, in the order of their opening',
  args: [],
  options: {},
  run: async ({ storage }) => {
    const all = (await listAccounts(storage.reads)).map(({ accountId, ...rest }) => ({
      accountId: PREFIX.account + accountId,
      ...rest,
    }));
    const lines = all.map(({ accountId, name, email, openedAt }) => `${openedAt}  ${accountId}  ${email}  ${name}`);
    return { json: { accounts: all }, text: all.length > 0 ? lines.join('\n') : 'no accounts' };
  },
};

export const accountCommands: readonly CliCommand[] = [create, list, accountSettings];
