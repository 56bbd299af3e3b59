// Routes by which operators of the platform manage accounts (rule O1).

import type { Static } from 'typebox';
import { LOGO_BYTES_MAX, LOGO_TYPES } from '../../../application/ports/logos.ts';
import { ACCOUNT, NO_ACCOUNT, type OpenAccount } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { isEmailAddress } from '../../../domain/kernel/email.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../../domain/user/password.ts';
import { USER, USER_NAME_LENGTH_MAX } from '../../../domain/user/user.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, json, jsonBody, ok, pathParam, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS, NO_CURSOR, pageOf, pageQuery, pageSchema } from '../ops/operatorRoutes.ts';
import { accountView, settingsOrRefusal, wholeBody } from './account.ts';
import type { AccountSchemas } from './accountSchema.ts';

export const accountParam = {
  id: pathParam(
    'The `acct_` id of the account.',
    (text) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix) ?? NO_ACCOUNT,
  ),
};

const EMAIL_LENGTH_MAX = 254;
/** A bound in UTF-16 units that every valid password stays below. */
const TYPED_LENGTH_MAX = 1_024;
export const emailSchema = s.described('Case-insensitive.', s.string(EMAIL_LENGTH_MAX));
export const passwordSchema = s.described(
  '12 to 128 characters of any kind. Default: a generated password.',
  s.string(TYPED_LENGTH_MAX),
);

/** Returns the problems of a user's email address and password that the schema can't express. */
export const loginProblems = ({
  email,
  password,
}: {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
}): readonly CodedProblem[] => {
  const problem = password === undefined ? null : passwordProblem(password);
  return [
    ...(email === undefined || isEmailAddress(email)
      ? []
      : [{ param: 'email', message: 'must be an email address', code: 'invalid_request' as const }]),
    ...(problem === null ? [] : [{ param: 'password', message: problem, code: 'invalid_request' as const }]),
  ];
};

const suspendedAt = s.described('When the account was suspended; null if it is not suspended.', s.orNull(s.timestamp));
const listedSchema = s.exactly({
  id: s.id(ACCOUNT.idPrefix),
  name: s.described('The name under which the account was opened.', s.string()),
  email: s.described('The email address of the first owner.', s.string()),
  createdAt: s.timestamp,
  suspendedAt,
});

const operatorsAccountSchema = ({ properties: { settings, ...standing } }: AccountSchemas) =>
  s.exactly({ ...standing, suspendedAt, settings });
const suspensionSchema = s.exactly({ id: s.id(ACCOUNT.idPrefix), suspendedAt: s.orNull(s.timestamp) });

const shown = (account: OpenAccount, services: Parameters<typeof accountView>[1]) => {
  const { settings: agreed, ...rest } = accountView(account, services);
  return { ...rest, suspendedAt: account.suspendedAt, settings: agreed };
};

const createBody = s.accepting({
  name: s.described('The name of the merchant that payers see.', s.string(USER_NAME_LENGTH_MAX)),
  email: s.described('The email address of the owner. Case-insensitive.', s.string(EMAIL_LENGTH_MAX)),
  password: s.optional(passwordSchema),
});

const createAccountRoute = route('POST', '/ops/v1/accounts', {
  operationId: 'createAccount',
  summary: 'Open an account',
  description:
    'Opens an account with an OWNER, a test key and a live key. Store the password and both keys: later responses don’t contain them.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: createBody, refine: loginProblems }),
  responses: {
    201: json(
      'The account. The login and the keys work immediately.',
      s.exactly({
        id: s.id(ACCOUNT.idPrefix),
        name: s.string(),
        email: s.string(),
        userId: s.id(USER.idPrefix),
        password: s.described('The password of the owner. Returned only once.', s.string()),
        testApiKey: s.described('The test key. Returned only once.', s.string()),
        liveApiKey: s.described('The live key. Returned only once.', s.string()),
      }),
    ),
  },
  handle: async (context) => {
    const { name, email, password: wanted }: Frozen<Static<typeof createBody>> = context.body;
    const created = await context.services.platform.createAccount(
      { name, email, password: wanted ?? null },
      actorOf(context),
    );
    if (isRejection(created)) return created;
    const { accountId, userId, ...secrets } = created;
    return {
      status: 201,
      body: { id: ACCOUNT.idPrefix + accountId, name, email, userId: USER.idPrefix + userId, ...secrets },
    };
  },
});

const listAccountsRoute = route('GET', '/ops/v1/accounts', {
  operationId: 'listAccounts',
  summary: 'List accounts',
  description: 'Returns all accounts, oldest first. `suspendedAt` is set on suspended accounts.',
  ...FOR_OPERATORS,
  query: pageQuery('an acct_ id', (text) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix)),
  refusesUnknownQuery: true,
  reads: ['accounts'],
  responses: { 200: json('A page of accounts.', pageSchema(listedSchema)) },
  handle: async ({ query: { limit, startingAfter: after = null }, services: { platform } }) => {
    if (after !== null && (await platform.findAccount(after)) === null) return NO_CURSOR;
    const found = await platform.listAccounts({ after, limit: limit + 1 });
    const views = found.map(({ accountId, name, email, openedAt, ...standing }) => ({
      id: ACCOUNT.idPrefix + accountId,
      name,
      email,
      createdAt: openedAt,
      suspendedAt: standing.suspendedAt,
    }));
    return { status: 200, body: pageOf(views, limit) };
  },
});

const showAccountRoute = (schemas: AccountSchemas) =>
  route('GET', '/ops/v1/accounts/{id}', {
    operationId: 'showAccount',
    params: accountParam,
    summary: 'Retrieve an account',
    description: 'Returns one account with its settings, fees and limits.',
    ...FOR_OPERATORS,
    responses: { 200: json('The account.', operatorsAccountSchema(schemas)) },
    handle: async ({ params, services }) => {
      const account = await services.platform.findAccount(params.id);
      return account === null ? NO_ACCOUNT : { status: 200, body: shown(account, services) };
    },
  });

const suspendAccountRoute = route('POST', '/ops/v1/accounts/{id}/suspend', {
  operationId: 'suspendAccount',
  params: accountParam,
  summary: 'Suspend an account',
  description:
    'Suspends an account: its keys and logins are rejected and its sessions end. Open payments continue, and cash-outs wait.',
  ...FOR_OPERATORS,
  responses: {
    200: json('The time of the suspension. Every server process rejects the keys of the account.', suspensionSchema),
  },
  handle: async (context) => {
    const { id: accountId } = context.params;
    const done = await context.services.platform.suspendAccount(accountId, actorOf(context));
    if (isRejection(done)) return done;
    return { status: 200, body: { id: ACCOUNT.idPrefix + accountId, suspendedAt: done.since } };
  },
});

const reopenAccountRoute = route('POST', '/ops/v1/accounts/{id}/reopen', {
  operationId: 'reopenAccount',
  params: accountParam,
  summary: 'Reopen a suspended account',
  description: 'Ends a suspension. The keys work again, and users can log in again.',
  ...FOR_OPERATORS,
  responses: {
    200: json('The account is open. Every server process accepts its keys.', suspensionSchema),
  },
  handle: async (context) => {
    const { id: accountId } = context.params;
    return ok(await context.services.platform.reopenAccount(accountId, actorOf(context)), () => ({
      id: ACCOUNT.idPrefix + accountId,
      suspendedAt: null,
    }));
  },
});

const operatorsSettingsRoute = (schemas: AccountSchemas) =>
  route('PATCH', '/ops/v1/accounts/{id}/settings', {
    operationId: 'changeSettingsOfAccount',
    params: accountParam,
    summary: 'Change the settings of an account',
    description:
      'Changes fees, limits and other agreed settings of an account. Fields that you omit keep their values.',
    ...FOR_OPERATORS,
    body: jsonBody({ schema: schemas.operatorsBody }),
    responses: { 200: schemas.settingsNow },
    errors: ['change_limit_reached'],
    handle: async (context) => {
      const { params, body, services } = context;
      return settingsOrRefusal(await services.changeAccountSettings(params.id, body, actorOf(context)));
    },
  });

const operatorsLogoRoute = (schemas: AccountSchemas) =>
  route('PUT', '/ops/v1/accounts/{id}/logo', {
    operationId: 'uploadLogoOfAccount',
    params: accountParam,
    summary: 'Upload the logo of an account',
    description:
      'Sets the logo of an account. Send the image itself as the body: a PNG or JPEG with sides of 16 to 512 pixels.',
    ...FOR_OPERATORS,
    body: { kind: 'stream', contentTypes: LOGO_TYPES, bytesMax: LOGO_BYTES_MAX },
    responses: { 200: schemas.settingsNow },
    errors: ['invalid_request', 'change_limit_reached'],
    handle: async (context) => {
      const image = await wholeBody(context.body);
      return settingsOrRefusal(await context.services.changeLogo(context.params.id, image, actorOf(context)));
    },
  });

const operatorsLogoRemovalRoute = (schemas: AccountSchemas) =>
  route('DELETE', '/ops/v1/accounts/{id}/logo', {
    operationId: 'removeLogoOfAccount',
    params: accountParam,
    summary: 'Remove the logo of an account',
    description: 'Removes the logo of an account, which is no longer served.',
    ...FOR_OPERATORS,
    responses: { 200: schemas.settingsNow },
    errors: ['change_limit_reached'],
    handle: async (context) =>
      settingsOrRefusal(await context.services.changeLogo(context.params.id, null, actorOf(context))),
  });

export const operatorAccountRoutes = (schemas: AccountSchemas): readonly Route[] => [
  createAccountRoute,
  listAccountsRoute,
  showAccountRoute(schemas),
  suspendAccountRoute,
  reopenAccountRoute,
  operatorsSettingsRoute(schemas),
  operatorsLogoRoute(schemas),
  operatorsLogoRemovalRoute(schemas),
];
