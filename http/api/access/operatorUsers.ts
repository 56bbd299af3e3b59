// Routes by which operators manage the users of every account and of the platform (rules D2, O1).

import type { Static } from 'typebox';
import type { Platform } from '../../../application/capabilities.ts';
import type { Changer } from '../../../application/core/eventMetadata.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { type AccountId, parsePrefixedId, type UserId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import {
  ACCOUNT_ROLES,
  type KnownUser,
  NO_USER,
  ROLES,
  USER,
  USER_NAME_LENGTH_MAX,
} from '../../../domain/user/user.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, type Frozen, json, jsonBody, pathParam, route } from '../../kernel/route.ts';
import { emailSchema, loginProblems, passwordSchema } from '../accounts/operatorAccounts.ts';
import { FOR_OPERATORS, NO_CURSOR, ofAccount, pageOf, pageQuery, pageSchema } from '../ops/operatorRoutes.ts';

export const userParam = {
  id: pathParam('The `usr_` id of the user.', (text) => parsePrefixedId<UserId>(text, USER.idPrefix) ?? NO_USER),
};

const userProperties = {
  id: s.id(USER.idPrefix),
  accountId: s.described('The account of the user; null for an OPERATOR.', s.orNull(s.id(ACCOUNT.idPrefix))),
  email: s.string(),
  name: s.string(),
  role: s.oneOfTexts(ROLES),
  status: s.described('A disabled user can’t log in.', s.oneOfTexts(['active', 'disabled'])),
  createdAt: s.timestamp,
};
const userSchema = s.exactly(userProperties);

const userView = ({
  userId,
  accountId,
  email,
  name,
  role,
  status,
  addedAt,
}: Omit<KnownUser, 'passwordId' | 'secondFactorId'>) => ({
  id: USER.idPrefix + userId,
  accountId: accountId && ACCOUNT.idPrefix + accountId,
  email,
  name,
  role,
  status,
  createdAt: addedAt,
});

const wish = {
  accountId: s.optional(
    s.described('The account of the user. Required for every role except OPERATOR.', s.orNull(s.id(ACCOUNT.idPrefix))),
  ),
  email: emailSchema,
  role: s.oneOfTexts(ROLES),
  name: s.optional(s.described('Default: the email address.', s.string(USER_NAME_LENGTH_MAX))),
};
const inviteBody = s.accepting(wish);
const addBody = s.accepting({ ...wish, password: s.optional(passwordSchema) });

export const nameProblems = (name: string | undefined): readonly CodedProblem[] =>
  name === undefined || name.trim() !== ''
    ? []
    : [{ param: 'name', message: `must have 1 to ${USER_NAME_LENGTH_MAX} characters`, code: 'invalid_request' }];

const wishOf = ({ accountId = null, email, role, name }: Frozen<Static<typeof inviteBody>>) => ({
  accountId: accountId === null ? null : parsePrefixedId<AccountId>(accountId, ACCOUNT.idPrefix),
  email,
  role,
  name: name?.trim() ?? email,
});

const viewOf = async ({ findUser }: Platform, userId: UserId) => {
  const user = await findUser(userId);
  if (user === null) throw new Error(`user ${userId} not found after creation`);
  return userView(user);
};

const addUserRoute = route('POST', '/ops/v1/users', {
  operationId: 'addUser',
  summary: 'Add a user with a password',
  description: 'Creates a user and returns the password once. Quita sends no email.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: addBody, refine: (body) => [...loginProblems(body), ...nameProblems(body.name)] }),
  responses: {
    201: json(
      'The user, who can log in immediately.',
      s.exactly({ ...userProperties, password: s.described('Returned only once.', s.string()) }),
    ),
  },
  errors: ['not_found'],
  handle: async (context) => {
    const { body, services } = context;
    const addition = { ...wishOf(body), password: body.password ?? null };
    const added = await services.platform.addUser(addition, actorOf(context));
    if (isRejection(added)) return added;
    const { userId, password } = added;
    return { status: 201, body: { ...(await viewOf(services.platform, userId)), password } };
  },
});

const inviteUserRoute = route('POST', '/ops/v1/users/invite', {
  operationId: 'inviteUser',
  summary: 'Invite a user by email',
  description:
    'Creates a user and sends an email with a link to set the first password. The link works once, within one hour. For an invited user who has no password yet, it sends a new link.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: inviteBody, refine: (body) => [...loginProblems(body), ...nameProblems(body.name)] }),
  responses: { 202: json('The user. The link is being sent.', userSchema) },
  errors: ['not_found'],
  handle: async (context) => {
    const { platform } = context.services;
    const userId = await platform.inviteUser(wishOf(context.body), actorOf(context));
    return isRejection(userId) ? userId : { status: 202, body: await viewOf(platform, userId) };
  },
});

const listUsersRoute = route('GET', '/ops/v1/users', {
  operationId: 'listUsers',
  summary: 'List users',
  description: 'Returns all users, or those of one account, in the order in which they were added.',
  ...FOR_OPERATORS,
  query: {
    ...pageQuery('a usr_ id', (text) => parsePrefixedId<UserId>(text, USER.idPrefix)),
    accountId: ofAccount,
  },
  refusesUnknownQuery: true,
  reads: ['users'],
  responses: { 200: json('A page of users.', pageSchema(userSchema)) },
  handle: async ({ query: { limit, startingAfter: after = null, accountId = null }, services: { platform } }) => {
    if (after !== null && (await platform.findUser(after)) === null) return NO_CURSOR;
    const found = await platform.listUsers(accountId, { after, limit: limit + 1 });
    return { status: 200, body: pageOf(found.map(userView), limit) };
  },
});

const showUserRoute = route('GET', '/ops/v1/users/{id}', {
  operationId: 'showUser',
  params: userParam,
  summary: 'Retrieve a user',
  description: 'Returns one user with role and status.',
  ...FOR_OPERATORS,
  responses: { 200: json('The user.', userSchema) },
  handle: async ({ params, services: { platform } }) => {
    const user = await platform.findUser(params.id);
    return user === null ? NO_USER : { status: 200, body: userView(user) };
  },
});

const USER_NOW = { 200: json('The user after the change.', userSchema) } as const;
const userOrRefusal = (done: KnownUser | Rejection) =>
  isRejection(done) ? done : { status: 200 as const, body: userView(done) };

const statusRoute = (
  verb: 'disable' | 'enable',
  summary: string,
  description: string,
  change: (platform: Platform, userId: UserId, by: Changer) => Promise<KnownUser | Rejection>,
) =>
  route('POST', `/ops/v1/users/{id}/${verb}`, {
    operationId: `${verb}User`,
    params: userParam,
    summary,
    description,
    ...FOR_OPERATORS,
    responses: USER_NOW,
    errors: verb === 'enable' ? ['change_limit_reached'] : [],
    handle: async (context) =>
      userOrRefusal(await change(context.services.platform, context.params.id, actorOf(context))),
  });

const disableUserRoute = statusRoute(
  'disable',
  'Disable a user',
  'Disables a user, who can’t log in until enabled again. All sessions of this user end immediately.',
  (platform, userId, by) => platform.disableUser(userId, by),
);
const enableUserRoute = statusRoute(
  'enable',
  'Enable a disabled user',
  'Enables a disabled user, who can then log in again.',
  (platform, userId, by) => platform.enableUser(userId, by),
);

const changeRoleRoute = route('POST', '/ops/v1/users/{id}/role', {
  operationId: 'changeUserRole',
  params: userParam,
  summary: 'Change the role of a user',
  description: 'Changes the role of a user of an account. The new role applies to current sessions immediately.',
  ...FOR_OPERATORS,
  reads: ['users'],
  body: jsonBody({ schema: s.accepting({ role: s.oneOfTexts(ACCOUNT_ROLES) }) }),
  responses: USER_NOW,
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { params, body, services } = context;
    return userOrRefusal(await services.platform.changeRole(params.id, body.role, actorOf(context)));
  },
});

const resetSecondFactorRoute = route('POST', '/ops/v1/users/{id}/reset-second-factor', {
  operationId: 'resetSecondFactor',
  params: userParam,
  summary: 'Remove the second factor of a user',
  description:
    'Removes the second factor of a user, for example after the loss of a device. The user can then log in with the password alone and enrol again. All sessions of this user end.',
  ...FOR_OPERATORS,
  responses: USER_NOW,
  handle: async (context) => {
    const { caller, params, services, requestId } = context;
    const done = await services.platform.resetSecondFactor(params.id, actorOf(context));
    if (!isRejection(done))
      services.reportSecurityEvent({
        security: 'second_factor_reset',
        by: caller.actor,
        user: USER.idPrefix + params.id,
        requestId,
      });
    return userOrRefusal(done);
  },
});

export const OPERATOR_USER_ROUTES = [
  addUserRoute,
  inviteUserRoute,
  listUsersRoute,
  showUserRoute,
  disableUserRoute,
  enableUserRoute,
  changeRoleRoute,
  resetSecondFactorRoute,
];
