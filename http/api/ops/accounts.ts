// Accounts, as operators of the platform see to them (rule O1).

import type { Static } from 'typebox';
import { LOGO_BYTES_MAX, LOGO_TYPES } from '../../../application/ports/logos.ts';
import { ACCOUNT, type OpenAccount } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { isEmailAddress } from '../../../domain/kernel/email.ts';
import { type AccountId, parsePrefixedId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { passwordProblem } from '../../../domain/user/password.ts';
import { USER, USER_NAME_LENGTH_MAX } from '../../../domain/user/user.ts';
import { accepting, described, exactly, id, optional, orNull, string, timestamp } from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, jsonBody, route } from '../../kernel/route.ts';
import { accountView, SETTINGS_NOW, settingsOrRefusal, wholeBody } from '../accounts/account.ts';
import { accountProperties } from '../accounts/accountSchema.ts';
import { NO_CURSOR, pageOf, pageQuery, pageSchema } from './paging.ts';
import { operatorsChangeOf, operatorsSettingsBody } from './settingsBody.ts';
import { PLATFORM } from './tags.ts';

export const NO_ACCOUNT = reject('not_found', 'There is no such account.');

export const accountParam = {
  id: {
    description: 'The `acct_` id.',
    schema: { type: 'string' },
    parse: (text: string) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix) ?? NO_ACCOUNT,
  },
} as const;

const EMAIL_LENGTH_MAX = 254;
/** Longer texts are no passwords; a bound in UTF-16 units that every password stays below. */
const TYPED_LENGTH_MAX = 1_024;
export const emailSchema = described('In any case of letters.', string(EMAIL_LENGTH_MAX));
export const passwordSchema = described(
  '12 to 128 characters of any kind. Default: one is made.',
  string(TYPED_LENGTH_MAX),
);

/** What the schema can't say of who is to log in. */
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
      : [{ param: 'email', message: 'must be an e-mail address', code: 'invalid_request' as const }]),
    ...(problem === null ? [] : [{ param: 'password', message: problem, code: 'invalid_request' as const }]),
  ];
};

const suspendedAt = described('null: it is not suspended.', orNull(timestamp));
const listedSchema = exactly({
  id: id(ACCOUNT.idPrefix),
  name: described('As the account was opened.', string()),
  email: described('Of its first owner.', string()),
  createdAt: timestamp,
  suspendedAt,
});

const { settings, ...standing } = accountProperties;
const operatorsAccountSchema = exactly({ ...standing, suspendedAt, settings });
const suspensionSchema = exactly({ id: id(ACCOUNT.idPrefix), suspendedAt: orNull(timestamp) });

const shown = (account: OpenAccount, baseUrl: string) => {
  const { settings: agreed, ...rest } = accountView(account, baseUrl);
  return { ...rest, suspendedAt: account.suspendedAt, settings: agreed };
};

const createBody = accepting({
  name: described('The merchant’s, as payers see it.', string(USER_NAME_LENGTH_MAX)),
  email: described('The owner’s, in any case of letters.', string(EMAIL_LENGTH_MAX)),
  password: optional(passwordSchema),
});

const createAccountRoute = route({
  method: 'POST',
  path: '/ops/v1/accounts',
  operationId: 'createAccount',
  summary: 'Open an account with its OWNER, a test key and a live key; what is secret is shown once',
  description:
    'Opens an account with an OWNER, a test key and a live key. Store the password and both keys: later responses don’t contain them.',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({ schema: createBody, refine: loginProblems }),
  responses: {
    201: {
      kind: 'json',
      description: 'The account. Login and keys work at once.',
      schema: exactly({
        id: id(ACCOUNT.idPrefix),
        name: string(),
        email: string(),
        userId: id(USER.idPrefix),
        password: described('Of the owner. Shown only now.', string()),
        testApiKey: described('Shown only now.', string()),
        liveApiKey: described('Shown only now.', string()),
      }),
    },
  },
  errors: [],
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

const listAccountsRoute = route({
  method: 'GET',
  path: '/ops/v1/accounts',
  operationId: 'listAccounts',
  summary: 'Every account, in the order of their opening, and which are suspended',
  description: 'Returns the accounts of the platform. `suspendedAt` is set on suspended accounts.',
  tag: PLATFORM,
  principal: 'operator',
  query: pageQuery('an acct_ id', (text) => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix)),
  refusesUnknownQuery: true,
  reads: ['accounts'],
  responses: { 200: { kind: 'json', description: 'A page of accounts.', schema: pageSchema(listedSchema) } },
  errors: [],
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

const showAccountRoute = route({
  method: 'GET',
  path: '/ops/v1/accounts/{id}',
  operationId: 'showAccount',
  params: accountParam,
  summary: 'An account, what is agreed with it, and whether it is suspended',
  description: 'Returns one account with its settings, fees and limits.',
  tag: PLATFORM,
  principal: 'operator',
  responses: { 200: { kind: 'json', description: 'The account.', schema: operatorsAccountSchema } },
  errors: ['not_found'],
  handle: async ({ params, services }) => {
    const account = await services.platform.findAccount(params.id);
    return account === null ? NO_ACCOUNT : { status: 200, body: shown(account, services.baseUrl) };
  },
});

const suspendAccountRoute = route({
  method: 'POST',
  path: '/ops/v1/accounts/{id}/suspend',
  operationId: 'suspendAccount',
  params: accountParam,
  summary: 'Refuse the keys and logins of an account, and end its sessions; its payments go on, its cash-outs wait',
  description:
    'Suspends an account: its keys and logins are rejected and its sessions end. Open payments continue, and cash-outs wait.',
  tag: PLATFORM,
  principal: 'operator',
  responses: {
    200: { kind: 'json', description: 'Since when it is. No process takes its keys.', schema: suspensionSchema },
  },
  errors: ['not_found'],
  handle: async (context) => {
    const { id: accountId } = context.params;
    const done = await context.services.platform.suspendAccount(accountId, actorOf(context));
    if (isRejection(done)) return done;
    return { status: 200, body: { id: ACCOUNT.idPrefix + accountId, suspendedAt: done.since } };
  },
});

const reopenAccountRoute = route({
  method: 'POST',
  path: '/ops/v1/accounts/{id}/reopen',
  operationId: 'reopenAccount',
  params: accountParam,
  summary: 'Take the keys and logins of a suspended account again; its users log in anew',
  description: 'Ends a suspension. The keys work again, and users can log in.',
  tag: PLATFORM,
  principal: 'operator',
  responses: { 200: { kind: 'json', description: 'It is open, in every process.', schema: suspensionSchema } },
  errors: ['not_found'],
  handle: async (context) => {
    const { id: accountId } = context.params;
    const done = await context.services.platform.reopenAccount(accountId, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: { id: ACCOUNT.idPrefix + accountId, suspendedAt: null } };
  },
});

const operatorsSettingsRoute = route({
  method: 'PATCH',
  path: '/ops/v1/accounts/{id}/settings',
  operationId: 'changeSettingsOfAccount',
  params: accountParam,
  summary: 'Change what is agreed with an account; what is not sent stays',
  description: 'Changes fees, limits and other agreed settings of an account. Fields that you omit keep their values.',
  tag: PLATFORM,
  principal: 'operator',
  body: jsonBody({ schema: operatorsSettingsBody }),
  responses: { 200: SETTINGS_NOW },
  errors: ['not_found'],
  handle: async (context) => {
    const { params, body, services } = context;
    const change = operatorsChangeOf(body);
    return settingsOrRefusal(await services.changeAccountSettings(params.id, change, actorOf(context)));
  },
});

const operatorsLogoRoute = route({
  method: 'PUT',
  path: '/ops/v1/accounts/{id}/logo',
  operationId: 'uploadLogoOfAccount',
  params: accountParam,
  summary: 'The logo of an account: a PNG or JPEG of 16 to 512 pixels a side',
  description: 'Sets the logo of an account. Send the image itself as the body.',
  tag: PLATFORM,
  principal: 'operator',
  body: { kind: 'stream', contentTypes: LOGO_TYPES, bytesMax: LOGO_BYTES_MAX },
  responses: { 200: SETTINGS_NOW },
  errors: ['invalid_request', 'not_found'],
  handle: async (context) => {
    const image = await wholeBody(context.body);
    return settingsOrRefusal(await context.services.changeLogo(context.params.id, image, actorOf(context)));
  },
});

const operatorsLogoRemovalRoute = route({
  method: 'DELETE',
  path: '/ops/v1/accounts/{id}/logo',
  operationId: 'removeLogoOfAccount',
  params: accountParam,
  summary: 'Take the logo of an account away: it is not served any more',
  description: 'Removes the logo of an account.',
  tag: PLATFORM,
  principal: 'operator',
  responses: { 200: SETTINGS_NOW },
  errors: ['not_found'],
  handle: async (context) =>
    settingsOrRefusal(await context.services.changeLogo(context.params.id, null, actorOf(context))),
});

export const OPS_ACCOUNT_ROUTES = [
  createAccountRoute,
  listAccountsRoute,
  showAccountRoute,
  suspendAccountRoute,
  reopenAccountRoute,
  operatorsSettingsRoute,
  operatorsLogoRoute,
  operatorsLogoRemovalRoute,
];
