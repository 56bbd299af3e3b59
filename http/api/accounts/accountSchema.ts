// The account as its users see it, with the field names of `account settings --json`, and the bodies that change its settings.
import type { DeclaredSettings } from '../../../application/core/accounts.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { SETTING_BOUNDS } from '../../../domain/account/settingProblems.ts';
import { PAYMENT_METHODS } from '../../../domain/charge/methods.ts';
import type { AccountSetting, ValueSchema } from '../../../domain/kernel/accountSetting.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { json } from '../../kernel/route.ts';

export const perMethod = <Schema>(schema: Schema) =>
  Object.fromEntries(PAYMENT_METHODS.map((method) => [method, schema])) as {
    readonly [Method in (typeof PAYMENT_METHODS)[number]]: Schema;
  };
const fee = s.exactly({
  percentBps: s.described('The variable part, in basis points of the amount.', s.anyInteger),
  fixed: s.described('The fixed part, in minor units.', s.anyInteger),
});

/** A response contains all parts of a group. */
const whole = (schema: ValueSchema) =>
  schema['properties'] === undefined ? schema : { ...schema, required: Object.keys(schema['properties'] ?? {}) };

const settingsSchema = (declared: readonly AccountSetting[]) =>
  s.exactly({
    fees: s.exactly(perMethod(s.exactly({ provider: fee, platform: fee }))),
    holdDays: s.exactly(perMethod(s.anyInteger)),
    chargeWindowSeconds: s.anyInteger,
    merchantName: s.described('The name of the merchant that payers see.', s.string()),
    taxId: s.described('CPF or CNPJ; null if unknown.', s.orNull(s.string())),
    receiverName: s.described('The receiver’s name in Pix codes.', s.string()),
    receiverCity: s.described('The receiver’s city in Pix codes.', s.string()),
    logo: s.described('SHA-256 hash of the image; null if there is no logo.', s.orNull(s.string())),
    color: s.described(
      'Color of buttons and links on the checkout page, as #rrggbb; null for the default color.',
      s.orNull(s.string()),
    ),
    velocity: s.exactly({ customerPerHour: s.anyInteger, accountPerHour: s.anyInteger }),
    ...Object.fromEntries(declared.map(({ name, schema }) => [name, s.declaredValue(whole(schema))])),
  });

const accountProperties = (settings: ReturnType<typeof settingsSchema>) => ({
  id: s.id(ACCOUNT.idPrefix),
  name: s.described('The name under which the account was opened.', s.string()),
  email: s.string(),
  createdAt: s.timestamp,
  logoUrl: s.described('URL of the logo; null if absent.', s.orNull(s.string())),
  settings,
});

/** Returns request properties for these settings. `by` is appended to each description. */
export const changesOf = (settings: readonly AccountSetting[], by: string) =>
  Object.fromEntries(
    settings.map(({ name, schema }) => [
      name,
      s.optional(s.declaredValue({ ...schema, description: `${schema['description']}${by}` })),
    ]),
  );

/** The operators' settings are in the schema so that they are rejected, not ignored. */
const refused = (name: string) =>
  name === 'logo'
    ? s.described('Rejected with 403 `role_required`. Use PUT /v1/account/logo instead.', s.anyJson)
    : s.described('Rejected with 403 `role_required`. Only an operator of the platform can change it.', s.anyJson);

const settingsBody = (owners: readonly AccountSetting[], operators: readonly string[]) =>
  s.accepting({
    color: s.optional(
      s.described('A color in lower case, as #rrggbb; null for the default color.', s.orNull(s.string(7))),
    ),
    chargeWindowSeconds: s.optional(s.integer(...SETTING_BOUNDS.chargeWindowSeconds)),
    ...changesOf(owners, ' Only an OWNER can change it.'),
    ...Object.fromEntries(operators.map((name) => [name, s.optional(refused(name))])),
  });

/** Returns the schemas of an account with these declared settings, and which settings only an OWNER or an operator can change. */
export const accountSchemas = ({ settings: declared }: DeclaredSettings) => {
  const settings = settingsSchema(declared);
  const properties = accountProperties(settings);
  const owners = declared.filter(({ isOwners }) => isOwners);
  const ownersOnly: readonly string[] = owners.map(({ name }) => name); // in the order in which a rejection names them
  const merchants = new Set(['color', 'chargeWindowSeconds', ...ownersOnly]);
  const operatorsOnly = Object.keys(settings.properties).filter((name) => !merchants.has(name));
  return {
    declared,
    properties,
    account: s.exactly(properties),
    settingsNow: json('All settings after the change.', settings),
    body: settingsBody(owners, operatorsOnly),
    ownersOnly,
    operatorsOnly,
  };
};
export type AccountSchemas = ReturnType<typeof accountSchemas>;
