// The settings of an account, on its page: the agreed values, and a form for each setting, with values as on the command line.
import { type AccountSettings, agreedSettings, type OpenAccount } from '../../../../domain/account/account.ts';
import type { SettingsChange } from '../../../../domain/account/settings.ts';
import type { AccountSetting } from '../../../../domain/kernel/accountSetting.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { html, type Markup } from '../../html.ts';
import { fact } from '../parts.ts';
import { agreedPanel } from '../settings/account.ts';
import { fieldsOf } from '../settings/fields.ts';
import { tableOf } from '../tables.ts';
import { said } from './acting.ts';
import type { Operator } from './page.ts';

/** Settings that can be changed by a text, by the names of the command line. */
const optionsOf = (declared: readonly AccountSetting[]) =>
  declared.flatMap(({ name, options }) => Object.entries(options).map(([option, rule]) => ({ name, option, ...rule })));

const LIMITS = [
  'color',
  'chargeWindow',
  'payoutApprovalAbove',
  'payoutCount',
  'payoutSum',
  'refundCount',
  'refundSum',
] as const;
/** Settings that the merchant's page has texts for. Others, including those of extensions, are shown as on the command line. */
const WORDED: readonly string[] = [
  ...['fees', 'holdDays', 'merchantName', 'taxId', 'receiverName', 'receiverCity', 'velocity', 'logo', 'color'],
  ...[
    'chargeWindowSeconds',
    'payoutApprovalAbove',
    'payoutCount',
    'payoutSum',
    'refundVelocity',
    'cashoutDestinations',
  ],
];

const limits = (agreed: AccountSettings, operator: Operator): readonly (Markup | null)[] => {
  const { texts, services } = operator;
  const { fields: names } = texts.settings;
  const { settingNames, settingValues } = texts.platform.accounts;
  const fields = fieldsOf(agreed, operator);
  const destinations = fields.anyDestination === '' ? fields.destinations : names.anyDestination;
  const others = services.accounts.declared.settings
    .filter(({ name }) => !WORDED.includes(name))
    .map(({ lineOf }) => lineOf(agreed))
    .map((line) => line && fact(settingNames[line[0]] ?? line[0], settingValues[line[1]] ?? line[1]));
  return [
    ...LIMITS.map((name) => fact(names[name], fields[name] || texts.none)),
    fact(names.destinations, destinations || texts.none),
    ...others,
  ];
};

/** The rejected input of one setting's form. */
export interface TypedSetting {
  readonly option?: string | undefined;
  readonly value?: string | undefined;
}

const changes = (path: string, typed: TypedSetting, { texts, csrf, services }: Operator): Markup => {
  const { accounts: words } = texts.platform;
  const rows = optionsOf(services.accounts.declared.settings).map(({ option, description }) => {
    const label = words.options[option] ?? description;
    const value = option === typed.option ? (typed.value ?? '') : '';
    return html`<tr><th scope="row" class="wide">${label}</th><td><form method="post" action="${path}/settings" class="inline">${csrf}<input type="hidden" name="option" value="${option}">
<input name="value" value="${value}" aria-label="${label}" autocomplete="off" required><button class="second">${texts.save}</button></form></td></tr>`;
  });
  const table = tableOf(words.changeSetting, [words.option, words.value], rows);
  return typed.option === undefined
    ? html`<details><summary>${words.changeSetting}</summary>${table}</details>`
    : html`<details open><summary>${words.changeSetting}</summary>${table}</details>`;
};

/** `path`: the account's page. */
export const settingsPanels = (account: OpenAccount, path: string, typed: TypedSetting, operator: Operator): Markup => {
  const { texts, services } = operator;
  const agreed = agreedSettings(account.settings, services.accounts.declared.settings);
  const shown = limits(agreed, operator).filter((line) => line !== null);
  return html`${agreedPanel(agreed, null, operator)}<section class="panel"><h2>${texts.platform.accounts.settings}</h2><dl>${shown}</dl>${changes(path, typed, operator)}</section>`;
};

/** Returns the change that a submitted setting requests. */
export const settingChangeOf = (
  option: string,
  value: string,
  { services, texts }: Operator,
): SettingsChange | Rejection => {
  const rule = optionsOf(services.accounts.declared.settings).find((one) => one.option === option);
  const label = texts.platform.accounts.options[option] ?? option;
  const read = rule?.read(value);
  if (rule === undefined || isRejection(read))
    return said(`${texts.settings.badValue(label)} ${isRejection(read) ? read.message : ''}`.trim());
  return { [rule.name]: rule.part === undefined ? read : { [rule.part]: read } } as SettingsChange;
};
