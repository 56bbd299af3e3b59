// The account as its members see it, in the words of `account settings --json`, and what changes its settings.
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import type { AccountSetting, ValueSchema } from '../../../domain/kernel/accountSetting.ts';
import {
  accepting,
  anyInteger,
  anyJson,
  declaredValue,
  described,
  exactly,
  id,
  integer,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

const { settings: DECLARED } = DECLARED_SETTINGS;

export const perMethod = <Schema>(schema: Schema) =>
  Object.fromEntries(PAYMENT_METHODS.map((method) => [method, schema])) as {
    readonly [Method in (typeof PAYMENT_METHODS)[number]]: Schema;
  };
const fee = exactly({
  percentBps: described('Basis points of the amount.', anyInteger),
  fixed: described('Minor units on top.', anyInteger),
});

/** An answer has all parts of a group. */
const whole = (schema: ValueSchema) =>
  schema['properties'] === undefined ? schema : { ...schema, required: Object.keys(schema['properties'] ?? {}) };

export const settingsSchema = exactly({
  fees: exactly(perMethod(exactly({ provider: fee, platform: fee }))),
  holdDays: exactly(perMethod(anyInteger)),
  chargeWindowSeconds: anyInteger,
  merchantName: described('As payers see the merchant.', string()),
  taxId: described('CPF or CNPJ; null: not known.', orNull(string())),
  receiverName: described('In the Pix code, as is the city.', string()),
  receiverCity: string(),
  logo: described('SHA-256 of the image; null: none.', orNull(string())),
  color: described('#rrggbb of the checkout’s buttons and links; null: Quita’s.', orNull(string())),
  velocity: exactly({ customerPerHour: anyInteger, accountPerHour: anyInteger }),
  ...Object.fromEntries(DECLARED.map(({ name, schema }) => [name, declaredValue(whole(schema))])),
});

export const accountProperties = {
  id: id(ACCOUNT.idPrefix),
  name: described('As the account was opened.', string()),
  email: string(),
  createdAt: timestamp,
  logoUrl: described('Where the logo is served; null: there is none.', orNull(string())),
  settings: settingsSchema,
};
export const accountSchema = exactly(accountProperties);

/** What a request sets of these settings; `by` ends the descriptions. */
export const changesOf = (settings: readonly AccountSetting[], by: string) =>
  Object.fromEntries(
    settings.map(({ name, schema }) => [
      name,
      optional(declaredValue({ ...schema, description: `${schema['description']}${by}` })),
    ]),
  );

const OWNERS = DECLARED.filter(({ isOwners }) => isOwners);
/** In the order in which a rejection names them. */
export const OWNERS_SETTINGS: readonly string[] = OWNERS.map(({ name }) => name);

const MERCHANTS = new Set(['color', 'chargeWindowSeconds', ...OWNERS_SETTINGS]);
export const OPERATORS_SETTINGS = Object.keys(settingsSchema.properties).filter((name) => !MERCHANTS.has(name));
/** Named, so that they are refused and not ignored. */
const refused = (name: string) =>
  name === 'logo'
    ? described('PUT /v1/account/logo changes it; here it is 403 `role_required`.', anyJson)
    : described('Only the operator of the platform changes it: 403 `role_required`.', anyJson);

export const settingsBody = accepting({
  color: optional(described('Lower-case #rrggbb; null: Quita’s.', orNull(string(7)))),
  chargeWindowSeconds: optional(integer(...SETTING_BOUNDS.chargeWindowSeconds)),
  ...changesOf(OWNERS, ' Only an OWNER changes it.'),
  ...Object.fromEntries(OPERATORS_SETTINGS.map((name) => [name, optional(refused(name))])),
});
