// What is agreed with one merchant (rules E6, E8, M2, M7a).
import { changeAccountSettings } from '../../application/accounts/changeAccountSettings.ts';
import type { AccountSettings } from '../../domain/account/account.ts';
import { SETTING_BOUNDS, type SettingsChange } from '../../domain/account/settings.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../domain/charge/methods.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import { type CliCommand, UsageError } from './command.ts';
import { accountIdOf } from './ids.ts';

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

const changeOf = (options: Parameters<CliCommand['run']>[1]['options']): SettingsChange => {
  const changes = Object.entries(SETTINGS).flatMap(([option, { read }]) => {
    const text = options[option];
    return typeof text === 'string' ? [read(option, text.trim())] : [];
  });
  const velocity = Object.assign({}, ...changes.map((change) => change.velocity)) as SettingsChange['velocity'] &
    object;
  return { ...(Object.assign({}, ...changes) as SettingsChange), velocity };
};

const lines = (settings: AccountSettings): readonly string[] => {
  const { velocity, rateLimitPerMinute, cashoutDestinations, holdDays, chargeWindowSeconds } = settings;
  const limit = rateLimitPerMinute === 0 ? 'none' : (rateLimitPerMinute ?? 'as the deployment says');
  return [
    `velocity              ${velocity.customerPerHour} an hour a customer, ${velocity.accountPerHour} in all`,
    `rate limit            ${limit}${typeof limit === 'number' ? ' a minute' : ''}`,
    `cash-out destinations ${cashoutDestinations === null ? 'any' : cashoutDestinations.join(', ') || 'none'}`,
    `hold days             ${PAYMENT_METHODS.map((method) => `${method}=${holdDays[method]}`).join(' ')}`,
    `charge window         ${chargeWindowSeconds} s`,
    `receiver              ${settings.receiverName}, ${settings.receiverCity}`,
    ...PAYMENT_METHODS.map((method) => {
      const { provider, platform } = settings.fees[method];
      const fee = ({ percentBps, fixed }: typeof provider) => `${percentBps} bps + ${fixed}`;
      return `fees ${method.padEnd(16)} provider ${fee(provider)}, platform ${fee(platform)}`;
    }),
  ];
};

export const accountSettings: CliCommand = {
  name: 'account settings',
  summary: 'Show what is agreed with an account, after changing what is named',
  args: ['account'],
  options: Object.fromEntries(Object.entries(SETTINGS).map(([option, { description }]) => [option, { description }])),
  changes: 'withOptions',
  run: async ({ commands, accounts, operator, log }, { args, options }) => {
    const id = accountIdOf(args[0] as string);
    const settings = await changeAccountSettings({ commands, accounts })(id, changeOf(options), operator);
    if (isRejection(settings)) throw new UsageError(settings.message);
    const changed = Object.keys(SETTINGS).filter((option) => options[option] !== undefined);
    const what = { setting: 'account', account: PREFIX.account + id, by: operator, changed };
    if (changed.length > 0) log.info({ security: 'settings_changed', ...what }, 'a setting was changed');
    return { json: { accountId: PREFIX.account + id, settings }, text: lines(settings).join('\n') };
  },
};
