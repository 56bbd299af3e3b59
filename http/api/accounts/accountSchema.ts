// The account as its users see it, with the field names of `account settings --json`, and the bodies that change its settings.
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
  percentBps: described('The variable part, in basis points of the amount.', anyInteger),
  fixed: described('The fixed part, in minor units.', anyInteger),
});

/** A response contains all parts of a group. */
const whole = (schema: ValueSchema) =>
  schema['properties'] === undefined ? schema : { ...schema, required: Object.keys(schema['properties'] ?? {}) };

export const settingsSchema = exactly({
  fees: exactly(perMethod(exactly({ provider: fee, platform: fee }))),
  holdDays: exactly(perMethod(anyInteger)),
  chargeWindowSeconds: anyInteger,
  merchantName: described('The name of the merchant that payers see.', string()),
  taxId: described('CPF or CNPJ; null if unknown.', orNull(string())),
  receiverName: described('The receiver’s name in Pix codes.', string()),
  receiverCity: described('The receiver’s city in Pix codes.', string()),
  logo: described('SHA-256 hash of the image; null if there is no logo.', orNull(string())),
  color: described(
    'Color of buttons and links on the checkout page, as #rrggbb; null for the default color.',
    orNull(string()),
  ),
  velocity: exactly({ customerPerHour: anyInteger, accountPerHour: anyInteger }),
  ...Object.fromEntries(DECLARED.map(({ name, schema }) => [name, declaredValue(whole(schema))])),
});

export const accountProperties = {
  id: id(ACCOUNT.idPrefix),
  name: described('The name under which the account was opened.', string()),
  email: string(),
  createdAt: timestamp,
  logoUrl: described('URL of the logo; null if absent.', orNull(string())),
  settings: settingsSchema,
};
export const accountSchema = exactly(accountProperties);

/** Returns request properties for these settings. `by` is appended to each description. */
export const changesOf = (settings: readonly AccountSetting[], by: string) =>
  Object.fromEntries(
    settings.map(({ name, schema }) => [
      name,
      optional(declaredValue({ ...schema, description: `${schema['description']}${by}` })),
    ]),
  );

const OWNERS = DECLARED.filter(({ isOwners }) => isOwners);
/** The settings that only an OWNER can change, in the order in which a rejection names them. */
export const OWNERS_SETTINGS: readonly string[] = OWNERS.map(({ name }) => name);

const MERCHANTS = new Set(['color', 'chargeWindowSeconds', ...OWNERS_SETTINGS]);
export const OPERATORS_SETTINGS = Object.keys(settingsSchema.properties).filter((name) => !MERCHANTS.has(name));
/** The operators' settings are in the schema so that they are rejected, not ignored. */
const refused = (name: string) =>
  name === 'logo'
    ? described('Rejected with 403 `role_required`. Use PUT /v1/account/logo instead.', anyJson)
    : described('Rejected with 403 `role_required`. Only an operator of the platform can change it.', anyJson);

export const settingsBody = accepting({
  color: optional(described('A color in lower case, as #rrggbb; null for the default color.', orNull(string(7)))),
  chargeWindowSeconds: optional(integer(...SETTING_BOUNDS.chargeWindowSeconds)),
  ...changesOf(OWNERS, ' Only an OWNER can change it.'),
  ...Object.fromEntries(OPERATORS_SETTINGS.map((name) => [name, optional(refused(name))])),
});
