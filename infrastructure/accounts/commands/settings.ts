// Shows and changes the settings of one account (rules E6, E8, M1, M2, M7a, M7b, O2, O3).
import { readFile } from 'node:fs/promises';
import { changeAccountSettings } from '../../../application/accounts/changeAccountSettings.ts';
import { replaceLogo } from '../../../application/accounts/changeLogo.ts';
import { type CheckedLogo, LOGO_BYTES_MAX } from '../../../application/ports/logos.ts';
import { ACCOUNT, type AccountSettings } from '../../../domain/account/account.ts';
import type { SettingsChange } from '../../../domain/account/settings.ts';
import type { AccountSetting, DeclaredSettings } from '../../../domain/kernel/accountSetting.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { accepted, accountIdOf, type CliCommand, type CliInput, UsageError } from '../../cli/command.ts';
import { checkedLogo } from '../../logos/logoImage.ts';
import { logos } from '../../logos/logos.ts';
import { tenantLock } from '../../postgres/tenantLock.ts';

interface Option {
  readonly description: string;
  /** Returns the change that the text requests. Throws UsageError. */
  readonly change: (text: string) => readonly [name: string, value: unknown];
}

const optionsOf = (declared: readonly AccountSetting[]): { readonly [option: string]: Option } =>
  Object.fromEntries(
    declared.flatMap(({ name, options }) =>
      Object.entries(options).map(([option, { description, part, read }]): [string, Option] => {
        const change = (text: string) => {
          const value = read(text);
          if (isRejection(value)) throw new UsageError(`--${option} ${value.message}`);
          return [name, part === undefined ? value : { [part]: value }] as const;
        };
        return [option, { description, change }];
      }),
    ),
  );

/** Settings that are validated as a whole have one option each. */
const optionOf = (setting: string, declared: readonly AccountSetting[]): string =>
  Object.keys(declared.find(({ name }) => name === setting)?.options ?? {})[0] ?? setting;

const isGroup = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the changes that the options request. Options for parts of the same setting are merged. */
const changeOf = (known: ReturnType<typeof optionsOf>, options: CliInput['options']): SettingsChange => {
  const all: Record<string, unknown> = {};
  for (const [option, { change }] of Object.entries(known)) {
    const text = options[option];
    if (typeof text !== 'string') continue;
    const [name, value] = change(text.trim());
    all[name] = isGroup(value) ? Object.assign({}, all[name], value) : value;
  }
  return all;
};

const lines = (agreed: AccountSettings, declared: readonly AccountSetting[]): readonly string[] =>
  declared.flatMap(({ lineOf }) => {
    const [label, text] = lineOf(agreed) ?? [null];
    return label === null ? [] : [`${label.padEnd(22)}${text}`];
  });

const LOGO = {
  description: `path of the merchant’s logo, a PNG or JPEG of at most ${LOGO_BYTES_MAX} bytes, or none to remove it`,
};

/** Returns the new logo, null to remove it, or undefined to keep it. Throws UsageError if the file isn't a valid logo. */
const logoOf = async (path: string | true | undefined): Promise<CheckedLogo | null | undefined> => {
  if (typeof path !== 'string') return undefined;
  if (path === 'none') return null;
  const logo = await checkedLogo(await readFile(path).catch(() => unreadable(path)));
  return accepted(logo);
};
const unreadable = (path: string): never => {
  throw new UsageError(`--logo "${path}" can't be read`);
};

export const settingsCommand = ({ settings: declared }: DeclaredSettings): CliCommand => {
  const known = optionsOf(declared);
  return {
    name: 'account settings',
    summary: 'Show the settings of an account; options change them first',
    args: [{ name: 'account' }],
    options: { ...known, logo: LOGO },
    changes: 'withOptions',
    run: async ({ commands, accounts, leases, operator, storage: { operations }, log }, { args, options }) => {
      const id = accountIdOf(args[0] as string);
      const by = { actor: operator, requestId: null };
      const logo = await logoOf(options['logo']);
      const needs = { commands, accounts, leases, logos: logos(operations), withTenantLock: tenantLock(operations) };
      const change = changeOf(known, options);
      const changing =
        logo === undefined ? changeAccountSettings(needs)(id, change, by) : replaceLogo(needs)(id, logo, by, change);
      const agreed = accepted(await changing, (name) => optionOf(name, declared));
      const changed = Object.keys(options).filter((option) => options[option] !== undefined);
      const what = { setting: 'account', account: ACCOUNT.idPrefix + id, by: operator, changed };
      if (changed.length > 0) log.info({ security: 'settings_changed', ...what }, 'setting changed');
      const json = { accountId: ACCOUNT.idPrefix + id, settings: agreed };
      return { json, text: lines(agreed, declared).join('\n') };
    },
  };
};
