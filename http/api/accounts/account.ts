// The account in its dashboard: any user reads it, an OWNER or ADMIN changes the merchant's settings, and only an OWNER changes the
// guards on refunds (rules D2, M7a, M7b, O3).

import type { Static } from 'typebox';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import { LOGO_BYTES_MAX, LOGO_TYPES } from '../../../application/ports/logos.ts';
import { ACCOUNT, type AccountSettings, agreedSettings, type OpenAccount } from '../../../domain/account/account.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import type { SessionCaller } from '../../kernel/callers.ts';
import { actorOf, type Frozen, json, jsonBody, route } from '../../kernel/route.ts';
import { logoPath } from '../../site/checkout/view.ts';
import { DASHBOARD } from '../access/login.ts';
import { accountSchema, OPERATORS_SETTINGS, OWNERS_SETTINGS, settingsBody, settingsSchema } from './accountSchema.ts';

export const accountView = ({ accountId, name, email, openedAt, settings }: OpenAccount, baseUrl: string) => ({
  id: ACCOUNT.idPrefix + accountId,
  name,
  email,
  createdAt: openedAt,
  logoUrl: settings.logo === null ? null : baseUrl + logoPath(settings.logo),
  settings: agreedSettings(settings, DECLARED_SETTINGS.settings),
});

const NOT_YOURS = reject('role_required', 'Only an OWNER or ADMIN can change the account.');
const unlessManager = ({ role }: SessionCaller) => (role === 'OWNER' || role === 'ADMIN' ? null : NOT_YOURS);

export const getAccountRoute = route('GET', '/v1/account', {
  operationId: 'getAccount',
  summary: 'Retrieve the account',
  description: 'Returns the account of the current user, with its settings and fees.',
  tag: DASHBOARD,
  principal: 'session',
  responses: { 200: json('The account.', accountSchema) },
  handle: async ({ caller, services }) => ({ status: 200, body: accountView(caller.account, services.baseUrl) }),
});

type SettingsBody = Frozen<Static<typeof settingsBody>>;

/** Returns why the caller must not make this change, or null if it is allowed. */
const refusalFor = (body: SettingsBody, caller: SessionCaller): Rejection | null => {
  const operators = OPERATORS_SETTINGS.find((name) => Object.hasOwn(body, name));
  if (operators !== undefined)
    return reject('role_required', `Only an operator of the platform can change ${operators}.`, { param: operators });
  if (caller.role === 'OWNER') return null;
  const owners = OWNERS_SETTINGS.find((name) => Object.hasOwn(body, name));
  return owners === undefined
    ? null
    : reject('role_required', `Only an OWNER can change ${owners}.`, { param: owners });
};

export const changeAccountSettingsRoute = route('PATCH', '/v1/account/settings', {
  operationId: 'changeAccountSettings',
  summary: 'Change settings of the account',
  description:
    'Changes the settings that belong to the merchant, such as branding and cash-out destinations. Fields that you omit keep their values.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  body: jsonBody({ schema: settingsBody }),
  responses: { 200: json('All settings after the change.', settingsSchema) },
  handle: async (context) => {
    const { caller, body, services } = context;
    const refusal = refusalFor(body, caller);
    if (refusal !== null) return refusal;
    return settingsOrRefusal(await services.changeAccountSettings(caller.tenant.accountId, body, actorOf(context)));
  },
});

export const settingsOrRefusal = (done: AccountSettings | Rejection) =>
  isRejection(done) ? done : { status: 200 as const, body: done };

export const SETTINGS_NOW = json('All settings after the change.', settingsSchema);

export const wholeBody = async (arriving: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of arriving) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export const uploadLogoRoute = route('PUT', '/v1/account/logo', {
  operationId: 'uploadLogo',
  summary: 'Upload the logo',
  description:
    'Sets the logo that payers see on the checkout page and on receipts. Send the image itself as the body: a PNG or JPEG with sides of 16 to 512 pixels.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  body: { kind: 'stream', contentTypes: LOGO_TYPES, bytesMax: LOGO_BYTES_MAX },
  responses: { 200: SETTINGS_NOW },
  errors: ['invalid_request'],
  handle: async (context) => {
    const { caller, services } = context;
    const image = await wholeBody(context.body);
    return settingsOrRefusal(await services.changeLogo(caller.tenant.accountId, image, actorOf(context)));
  },
});

export const removeLogoRoute = route('DELETE', '/v1/account/logo', {
  operationId: 'removeLogo',
  summary: 'Remove the logo',
  description:
    'Removes the logo, which is no longer served. The checkout page and receipts then show the name of the merchant.',
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: unlessManager,
  responses: { 200: SETTINGS_NOW },
  handle: async (context) => {
    const { caller, services } = context;
    return settingsOrRefusal(await services.changeLogo(caller.tenant.accountId, null, actorOf(context)));
  },
});
