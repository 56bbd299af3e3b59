// The account as its users see it, with the field names of `account settings --json`, and the bodies that change its settings.

import { ACCOUNT } from '../../../domain/account/account.ts';
import type { AccountSetting, DeclaredSettings, ValueSchema } from '../../../domain/kernel/accountSetting.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { json } from '../../kernel/route.ts';

/** A response contains all parts of a group. */
const whole = (schema: ValueSchema): ValueSchema => {
  const { properties } = schema as { readonly properties?: { readonly [part: string]: ValueSchema } };
  if (properties === undefined) return schema;
  const parts = Object.entries(properties).map(([part, of]) => [part, whole(of)]);
  return { ...schema, properties: Object.fromEntries(parts), required: Object.keys(properties) };
};

const settingsSchema = (declared: readonly AccountSetting[]) =>
  s.exactly(Object.fromEntries(declared.map(({ name, schema }) => [name, s.declaredValue(whole(schema))])));

const accountProperties = (settings: ReturnType<typeof settingsSchema>) => ({
  id: s.id(ACCOUNT.idPrefix),
  name: s.described('The name under which the account was opened.', s.string()),
  email: s.string(),
  createdAt: s.timestamp,
  logoUrl: s.described('URL of the logo; null if absent.', s.orNull(s.string())),
  settings,
});

/** Returns request properties for these settings. `by` is appended to each description. */
const changesOf = (settings: readonly AccountSetting[], by: string) =>
  Object.fromEntries(
    settings.map(({ name, schema }) => [
      name,
      s.optional(s.declaredValue({ ...schema, description: `${schema['description']}${by}` })),
    ]),
  );

/** The operators' settings are in the schema so that they are rejected, not ignored. */
const refused = ({ isUploaded }: AccountSetting) =>
  s.described(
    `Rejected with 403 \`role_required\`. ${isUploaded ? 'Use PUT /v1/account/logo instead.' : 'Only an operator of the platform can change it.'}`,
    s.anyJson,
  );

/** Returns the schemas of an account with these settings, and which of them only an OWNER or an operator can change. */
export const accountSchemas = ({ settings: declared }: DeclaredSettings) => {
  const settings = settingsSchema(declared);
  const properties = accountProperties(settings);
  const managers = declared.filter(({ isManagers }) => isManagers);
  const owners = declared.filter(({ isOwners }) => isOwners);
  const operators = declared.filter((one) => !one.isManagers && !one.isOwners);
  return {
    properties,
    account: s.exactly(properties),
    settingsNow: json('All settings after the change.', settings),
    body: s.accepting({
      ...changesOf(managers, ''),
      ...changesOf(owners, ' Only an OWNER can change it.'),
      ...Object.fromEntries(operators.map((one) => [one.name, s.optional(refused(one))])),
    }),
    /** Rejects unknown settings: a mistyped name must not look like a successful change. */
    operatorsBody: s.exactly(
      changesOf(
        declared.filter(({ isUploaded }) => !isUploaded),
        '',
      ),
    ),
    ownersOnly: owners.map(({ name }) => name),
    operatorsOnly: operators.map(({ name }) => name),
  };
};
export type AccountSchemas = ReturnType<typeof accountSchemas>;
