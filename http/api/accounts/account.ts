// The account in its dashboard: any user reads it, an OWNER or ADMIN changes the merchant's settings, and only an OWNER changes the
// guards on refunds (rules D2, M7a, M7b, O3).

import { LOGO_BYTES_MAX, LOGO_TYPES } from '../../../application/ports/logos.ts';
import { ACCOUNT, type AccountSettings, agreedSettings, type OpenAccount } from '../../../domain/account/account.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import type { SessionCaller } from '../../kernel/callers.ts';
import { actorOf, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import { logoPath } from '../../site/checkout/view.ts';
import { DASHBOARD } from '../access/login.ts';
import type { AccountSchemas } from './accountSchema.ts';

export const accountView = (
  { accountId, name, email, openedAt, settings }: OpenAccount,
  { baseUrl, accounts }: Pick<AppServices, 'baseUrl' | 'accounts'>,
) => ({
  id: ACCOUNT.idPrefix + accountId,
  name,
  email,
  createdAt: openedAt,
  logoUrl: settings.logo === null ? null : baseUrl + logoPath(settings.logo),
  settings: agreedSettings(settings, accounts.declared.settings),
});

const NOT_YOURS = reject('role_required', 'Only an OWNER or ADMIN can change the account.');
const unlessManager = ({ role }: SessionCaller) => (role === 'OWNER' || role === 'ADMIN' ? null : NOT_YOURS);

const getAccountRoute = ({ account }: AccountSchemas) =>
  route('GET', '/v1/account', {
    operationId: 'getAccount',
    summary: 'Retrieve the account',
    description: 'Returns the account of the current user, with its settings and fees.',
    tag: DASHBOARD,
    principal: 'session',
    responses: { 200: json('The account.', account) },
    handle: async ({ caller, services }) => ({ status: 200, body: accountView(caller.account, services) }),
  });

/** Returns why the caller must not make this change, or null if it is allowed. */
export const refusalFor = (
  { ownersOnly, operatorsOnly }: Pick<AccountSchemas, 'ownersOnly' | 'operatorsOnly'>,
  body: object,
  caller: Pick<SessionCaller, 'role'>,
): Rejection | null => {
  const operators = operatorsOnly.find((name) => Object.hasOwn(body, name));
  if (operators !== undefined)
    return reject('role_required', `Only an operator of the platform can change ${operators}.`, { param: operators });
  if (caller.role === 'OWNER') return null;
  const owners = ownersOnly.find((name) => Object.hasOwn(body, name));
  return owners === undefined
    ? null
    : reject('role_required', `Only an OWNER can change ${owners}.`, { param: owners });
};

const changeAccountSettingsRoute = (schemas: AccountSchemas) =>
  route('PATCH', '/v1/account/settings', {
    operationId: 'changeAccountSettings',
    summary: 'Change settings of the account',
    description:
      'Changes the settings that belong to the merchant, such as branding and cash-out destinations. Fields that you omit keep their values.',
    tag: DASHBOARD,
    principal: 'session',
    refusalOf: unlessManager,
    body: jsonBody({ schema: schemas.body }),
    responses: { 200: schemas.settingsNow },
    errors: ['change_limit_reached'],
    handle: async (context) => {
      const { caller, body, services } = context;
      const refusal = refusalFor(schemas, body, caller);
      if (refusal !== null) return refusal;
      return settingsOrRefusal(await services.changeAccountSettings(caller.tenant.accountId, body, actorOf(context)));
    },
  });

export const settingsOrRefusal = (done: AccountSettings | Rejection) =>
  isRejection(done) ? done : { status: 200 as const, body: done };

export const wholeBody = async (arriving: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of arriving) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const uploadLogoRoute = ({ settingsNow }: AccountSchemas) =>
  route('PUT', '/v1/account/logo', {
    operationId: 'uploadLogo',
    summary: 'Upload the logo',
    description:
      'Sets the logo that payers see on the checkout page and on receipts. Send the image itself as the body: a PNG or JPEG with sides of 16 to 512 pixels.',
    tag: DASHBOARD,
    principal: 'session',
    refusalOf: unlessManager,
    body: { kind: 'stream', contentTypes: LOGO_TYPES, bytesMax: LOGO_BYTES_MAX },
    responses: { 200: settingsNow },
    errors: ['invalid_request', 'change_limit_reached'],
    handle: async (context) => {
      const { caller, services } = context;
      const image = await wholeBody(context.body);
      return settingsOrRefusal(await services.changeLogo(caller.tenant.accountId, image, actorOf(context)));
    },
  });

const removeLogoRoute = ({ settingsNow }: AccountSchemas) =>
  route('DELETE', '/v1/account/logo', {
    operationId: 'removeLogo',
    summary: 'Remove the logo',
    description:
      'Removes the logo, which is no longer served. The checkout page and receipts then show the name of the merchant.',
    tag: DASHBOARD,
    principal: 'session',
    refusalOf: unlessManager,
    responses: { 200: settingsNow },
    errors: ['change_limit_reached'],
    handle: async (context) => {
      const { caller, services } = context;
      return settingsOrRefusal(await services.changeLogo(caller.tenant.accountId, null, actorOf(context)));
    },
  });

export const accountRoutes = (schemas: AccountSchemas): readonly Route[] =>
  [getAccountRoute, changeAccountSettingsRoute, uploadLogoRoute, removeLogoRoute].map((of) => of(schemas));
