// Accounts, and what is agreed with one merchant (rules E6, E8, M2, M7a).

import { randomBytes } from 'node:crypto';
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import { openAccountWithKeys } from '../../application/accounts/openAccount.ts';
import type { AccountSettings } from '../../domain/account/account.ts';
import { SETTING_BOUNDS, type SettingsChange } from '../../domain/account/settings.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../domain/charge/methods.ts';
import { isEmailAddress } from '../../domain/kernel/email.ts';
import { type AccountId, encodeRawId, PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { accountViews } from '../../projections/accounts/queries.ts';
import { newApiKey } from '../secrets/newSecrets.ts';
import { type CliCommand, type CliInput, UsageError } from './command.ts';
import { type Screen, table } from './output.ts';
import { accountIdOf } from './typed.ts';

const NAME_LENGTH_MAX = 200;

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
    if (!isEmailAddress(email)) throw new UsageError('--email must be an e-mail address');
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
    const all = (await accountViews(storage.reads).list()).map(({ accountId, ...rest }) => ({
      accountId: PREFIX.account + accountId,
      ...rest,
    }));
    const rows = all.map(({ accountId, name, email, openedAt }) => [openedAt, accountId, email, name]);
    const text = (screen: Screen) => table(screen, ['OPENED', 'ACCOUNT', 'OWNER', 'NAME'], rows);
    return { json: { accounts: all }, text: all.length > 0 ? text : 'no accounts' };
  },
};

type Bounds = readonly [number, number];

const wholeNumber = (option: string, text: string, [min, max]: Bounds): number => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`--${option} must be a whole number from ${min} to ${max}, not "${text}"`);
};

const holdDaysOf = (option: string, text: string): SettingsChange => {
  const pairs = text.split(',').map((pair) => {
    const [method = '', days = ''] = pair.split('=').map((part) => part.trim());
    if (!(PAYMENT_METHODS as readonly string[]).includes(method))
      throw new UsageError(`--${option} must be like PIX=0,BOLETO=2, of ${PAYMENT_METHODS.join(', ')}, not "${pair}"`);
    return [method as PaymentMethod, wholeNumber(option, days, SETTING_BOUNDS.holdDays)] as const;
  });
  return { holdDays: Object.fromEntries(pairs) };
};

const destinationsOf = (text: string): SettingsChange => {
  if (text === 'any') return { cashoutDestinations: null };
  const keys = text.split(',').map((key) => key.trim());
  return { cashoutDestinations: text === 'none' ? [] : [...new Set(keys)] };
};

interface Setting {
  readonly description: string;
  readonly read: (option: string, text: string) => SettingsChange;
}
const { velocityPerHour, rateLimitPerMinute, chargeWindowSeconds } = SETTING_BOUNDS;
const SETTINGS: { readonly [option: string]: Setting } = {
  'velocity-customer': {
    description: 'live charges an hour of one customer document',
    read: (option, text) => ({ velocity: { customerPerHour: wholeNumber(option, text, velocityPerHour) } }),
  },
  'velocity-account': {
    description: 'live charges an hour of the whole account',
    read: (option, text) => ({ velocity: { accountPerHour: wholeNumber(option, text, velocityPerHour) } }),
  },
  'rate-limit': {
    description: 'requests a minute of each API key; none: any number; default: as the deployment says',
    read: (option, text) => ({
      rateLimitPerMinute:
        text === 'default' ? null : text === 'none' ? 0 : wholeNumber(option, text, [1, rateLimitPerMinute[1]]),
    }),
  },
  'cashout-destinations': {
    description: 'Pix keys that cash-outs may go to, with commas between; any, or none',
    read: (_, text) => destinationsOf(text),
  },
  'hold-days': {
    description: 'days that settled money stays pending, by method: PIX=0,BOLETO=2; what is not named stays',
    read: holdDaysOf,
  },
  'charge-window': {
    description: 'lifetime in seconds of a charge whose request names none',
    read: (option, text) => ({ chargeWindowSeconds: wholeNumber(option, text, chargeWindowSeconds) }),
  },
};

const changeOf = (options: CliInput['options']): SettingsChange => {
  const changes = Object.entries(SETTINGS).flatMap(([option, { read }]) => {
    const text = options[option];
    return typeof text === 'string' ? [read(option, text.trim())] : [];
  });
  const velocity = Object.assign({}, ...changes.map((change) => change.velocity)) as SettingsChange['velocity'] &
    object;
  return { ...(Object.assign({}, ...changes) as SettingsChange), velocity };
};

const lines = (agreed: AccountSettings): readonly string[] => {
  const { velocity, rateLimitPerMinute, cashoutDestinations, holdDays, chargeWindowSeconds } = agreed;
  const limit = rateLimitPerMinute === 0 ? 'none' : (rateLimitPerMinute ?? 'as the deployment says');
  return [
    `velocity              ${velocity.customerPerHour} an hour a customer, ${velocity.accountPerHour} in all`,
    `rate limit            ${limit}${typeof limit === 'number' ? ' a minute' : ''}`,
    `cash-out destinations ${cashoutDestinations === null ? 'any' : cashoutDestinations.join(', ') || 'none'}`,
    `hold days             ${PAYMENT_METHODS.map((method) => `${method}=${holdDays[method]}`).join(' ')}`,
    `charge window         ${chargeWindowSeconds} s`,
    `receiver              ${agreed.receiverName}, ${agreed.receiverCity}`,
    ...PAYMENT_METHODS.map((method) => {
      const { provider, platform } = agreed.fees[method];
      const fee = ({ percentBps, fixed }: typeof provider) => `${percentBps} bps + ${fixed}`;
      return `fees ${method.padEnd(16)} provider ${fee(provider)}, platform ${fee(platform)}`;
    }),
  ];
};

const settings: CliCommand = {
  name: 'account settings',
  summary: 'Show what is agreed with an account, after changing what is named',
  args: [{ name: 'account' }],
  options: Object.fromEntries(Object.entries(SETTINGS).map(([option, { description }]) => [option, { description }])),
  changes: 'withOptions',
  run: async ({ commands, accounts, operator, log }, { args, options }) => {
    const id = accountIdOf(args[0] as string);
    const agreed = await changeAccountSettings({ commands, accounts })(id, changeOf(options), operator);
    if (isRejection(agreed)) throw new UsageError(agreed.message);
    const changed = Object.keys(SETTINGS).filter((option) => options[option] !== undefined);
    const what = { setting: 'account', account: PREFIX.account + id, by: operator, changed };
    if (changed.length > 0) log.info({ security: 'settings_changed', ...what }, 'a setting was changed');
    return { json: { accountId: PREFIX.account + id, settings: agreed }, text: lines(agreed).join('\n') };
  },
};

export const accountCommands: readonly CliCommand[] = [create, list, settings];
