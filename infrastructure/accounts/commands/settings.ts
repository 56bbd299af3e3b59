// Shows and changes the settings of one account (rules E6, E8, M1, M2, M7a, M7b, O2, O3).
import { readFile } from 'node:fs/promises';
import { changeAccountSettings, changeLogo } from '../../../application/accounts/changeAccountSettings.ts';
import type { DeclaredSettings } from '../../../application/core/accounts.ts';
import { type CheckedLogo, LOGO_BYTES_MAX } from '../../../application/ports/logos.ts';
import { ACCOUNT, type AccountSettings } from '../../../domain/account/account.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import type { SettingsChange } from '../../../domain/account/settings.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../../../domain/charge/methods.ts';
import {
  type AccountSetting,
  type Bounds,
  wholeNumber as wholeNumberIn,
} from '../../../domain/kernel/accountSetting.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { taxIdOf } from '../../../domain/pix/taxId.ts';
import type { Fee, FeePair } from '../../../domain/transaction/fees.ts';
import { accountIdOf, type CliCommand, type CliInput, UsageError } from '../../cli/command.ts';
import { checkedLogo } from '../../logos/logoImage.ts';
import { logos } from '../../logos/logos.ts';
import { tenantLock } from '../../postgres/tenantLock.ts';

/** Returns the parsed value. Throws UsageError if it was rejected. */
const accepted = <T>(option: string, text: string, value: T | Rejection): T => {
  if (isRejection(value)) throw new UsageError(`--${option} ${value.message}, not "${text}"`);
  return value;
};

const wholeNumber = (option: string, text: string, bounds: Bounds): number =>
  accepted(option, text, wholeNumberIn(bounds)(text));

/** Parses `PIX=…,BOLETO=…`. Throws UsageError, which quotes `example`, if the text has another form. */
const byMethod = <T>(option: string, text: string, example: string, read: (text: string, pair: string) => T) =>
  Object.fromEntries(
    text.split(',').map((pair) => {
      const [method = '', value = ''] = pair.split('=').map((part) => part.trim());
      if (!(PAYMENT_METHODS as readonly string[]).includes(method))
        throw new UsageError(`--${option} must be like ${example}, with ${PAYMENT_METHODS.join(', ')}, not "${pair}"`);
      return [method as PaymentMethod, read(value, pair)] as const;
    }),
  );

const FEES_EXAMPLE = 'PIX=0+10/100+0';

const feeOf = (option: string, text: string, pair: string): Fee => {
  const [bps, fixed, ...rest] = text.split('+').map((part) => part.trim());
  if (bps === undefined || fixed === undefined || rest.length > 0)
    throw new UsageError(`--${option} must be like ${FEES_EXAMPLE}, not "${pair}"`);
  return {
    percentBps: wholeNumber(option, bps, SETTING_BOUNDS.feeBps),
    fixed: toMinor(wholeNumber(option, fixed, SETTING_BOUNDS.feeFixed)),
  };
};

/** Parses `0+10/100+0`: the provider's and the platform's fee. An empty side stays unchanged. */
const feePairOf = (option: string, text: string, pair: string): Partial<FeePair> => {
  const [provider, platform, ...rest] = text.split('/');
  if (provider === undefined || platform === undefined || rest.length > 0)
    throw new UsageError(`--${option} must be like ${FEES_EXAMPLE}, not "${pair}"`);
  return {
    ...(provider.trim() !== '' && { provider: feeOf(option, provider, pair) }),
    ...(platform.trim() !== '' && { platform: feeOf(option, platform, pair) }),
  };
};

interface Setting {
  readonly description: string;
  readonly read: (option: string, text: string) => SettingsChange;
}
const { velocityPerHour, chargeWindowSeconds } = SETTING_BOUNDS;

const optionsOf = (declared: readonly AccountSetting[]) =>
  declared.flatMap(({ name, options }) =>
    Object.entries(options).map(([option, { description, part, read }]): [string, Setting] => {
      const change = (value: unknown) => ({ [name]: part === undefined ? value : { [part]: value } });
      return [option, { description, read: (_, text) => change(accepted(option, text, read(text))) }];
    }),
  );

type SettingOptions = { readonly [option: string]: Setting };

const settingOptions = (declared: readonly AccountSetting[]): SettingOptions => ({
  name: {
    description: 'the merchant’s name, shown to payers on the checkout and on documents',
    read: (_, text) => ({ merchantName: text }),
  },
  'tax-id': {
    description: 'the merchant’s CNPJ or CPF, shown on documents, or none',
    // An invalid tax id is passed on unchanged: the settings check rejects it together with all other invalid values.
    read: (_, text) => ({ taxId: text === 'none' ? null : (taxIdOf(text) ?? text) }),
  },
  'receiver-name': {
    description: 'the receiver’s name in the Pix code: up to 25 characters, no accents',
    read: (_, text) => ({ receiverName: text }),
  },
  'receiver-city': {
    description: 'the receiver’s city in the Pix code: up to 15 characters, no accents',
    read: (_, text) => ({ receiverCity: text }),
  },
  color: {
    description: 'colour of the checkout’s buttons and links, like #1a7f5c, or none for Quita’s default',
    read: (_, text) => ({ color: text === 'none' ? null : text.toLowerCase() }),
  },
  fees: {
    description:
      'provider and platform fee by method, each in basis points plus minor units: PIX=0+10/100+0; others stay unchanged',
    read: (option, text) => ({
      fees: byMethod(option, text, FEES_EXAMPLE, (value, pair) => feePairOf(option, value, pair)),
    }),
  },
  'velocity-customer': {
    description: 'maximum live charges per hour for one customer document',
    read: (option, text) => ({ velocity: { customerPerHour: wholeNumber(option, text, velocityPerHour) } }),
  },
  'velocity-account': {
    description: 'maximum live charges per hour for the whole account',
    read: (option, text) => ({ velocity: { accountPerHour: wholeNumber(option, text, velocityPerHour) } }),
  },
  ...Object.fromEntries(optionsOf(declared)),
  'hold-days': {
    description: 'days that settled money stays pending, by method: PIX=0,BOLETO=2; others stay unchanged',
    read: (option, text) => ({
      holdDays: byMethod(option, text, 'PIX=0,BOLETO=2', (days) => wholeNumber(option, days, SETTING_BOUNDS.holdDays)),
    }),
  },
  'charge-window': {
    description: 'default lifetime of a charge, in seconds',
    read: (option, text) => ({ chargeWindowSeconds: wholeNumber(option, text, chargeWindowSeconds) }),
  },
});

const isGroup = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the changes that the options ask for. Options for parts of the same setting are merged. */
const changeOf = (known: SettingOptions, options: CliInput['options']): SettingsChange => {
  const changes = Object.entries(known).flatMap(([option, { read }]) => {
    const text = options[option];
    return typeof text === 'string' ? Object.entries(read(option, text.trim())) : [];
  });
  const all: Record<string, unknown> = {};
  for (const [name, value] of changes) all[name] = isGroup(value) ? Object.assign({}, all[name], value) : value;
  return all;
};

const lines = (agreed: AccountSettings, declared: readonly AccountSetting[]): readonly string[] => {
  const { velocity, holdDays } = agreed;
  return [
    `name                  ${agreed.merchantName}`,
    `tax id                ${agreed.taxId ?? 'none'}`,
    `receiver              ${agreed.receiverName}, ${agreed.receiverCity}`,
    `logo                  ${agreed.logo ?? 'none'}`,
    `colour                ${agreed.color ?? 'Quita’s'}`,
    `velocity              ${velocity.customerPerHour} per hour and customer, ${velocity.accountPerHour} per hour in total`,
    ...declared.flatMap(({ lineOf }) => {
      const [label, text] = lineOf(agreed) ?? [null];
      return label === null ? [] : [`${label.padEnd(22)}${text}`];
    }),
    `hold days             ${PAYMENT_METHODS.map((method) => `${method}=${holdDays[method]}`).join(' ')}`,
    `charge window         ${agreed.chargeWindowSeconds} s`,
    ...PAYMENT_METHODS.map((method) => {
      const { provider, platform } = agreed.fees[method];
      const fee = ({ percentBps, fixed }: Fee) => `${percentBps} bps + ${fixed}`;
      return `fees ${method.padEnd(16)} provider ${fee(provider)}, platform ${fee(platform)}`;
    }),
  ];
};

const LOGO = {
  description: `path of the merchant’s logo, a PNG or JPEG of at most ${LOGO_BYTES_MAX} bytes, or none to remove it`,
};

/** Returns the new logo, null to remove it, or undefined to keep it. Throws UsageError if the file isn't a valid logo. */
const logoOf = async (path: string | true | undefined): Promise<CheckedLogo | null | undefined> => {
  if (typeof path !== 'string') return undefined;
  if (path === 'none') return null;
  const logo = await checkedLogo(await readFile(path).catch(() => unreadable(path)));
  if (isRejection(logo)) throw new UsageError(logo.message);
  return logo;
};
const unreadable = (path: string): never => {
  throw new UsageError(`--logo "${path}" can't be read`);
};

const namesOf = (known: SettingOptions): CliCommand['options'] =>
  Object.fromEntries(Object.entries(known).map(([option, { description }]) => [option, { description }]));

export const settingsCommand = ({ settings: declared }: DeclaredSettings): CliCommand => {
  const known = settingOptions(declared);
  return {
    name: 'account settings',
    summary: 'Show the settings of an account; options change them first',
    args: [{ name: 'account' }],
    options: { ...namesOf(known), logo: LOGO },
    changes: 'withOptions',
    run: async ({ commands, accounts, leases, operator, storage: { operations }, log }, { args, options }) => {
      const id = accountIdOf(args[0] as string);
      const by = { actor: operator, requestId: null };
      const logo = await logoOf(options['logo']);
      const needs = { commands, accounts, leases, logos: logos(operations), withTenantLock: tenantLock(operations) };
      let agreed = await changeAccountSettings(needs)(id, changeOf(known, options), by);
      if (logo !== undefined && !isRejection(agreed)) agreed = await changeLogo(needs)(id, logo, by);
      if (isRejection(agreed)) throw new UsageError(agreed.message);
      const changed = Object.keys(options).filter((option) => options[option] !== undefined);
      const what = { setting: 'account', account: ACCOUNT.idPrefix + id, by: operator, changed };
      if (changed.length > 0) log.info({ security: 'settings_changed', ...what }, 'setting changed');
      const json = { accountId: ACCOUNT.idPrefix + id, settings: agreed };
      return { json, text: lines(agreed, declared).join('\n') };
    },
  };
};
