// Routes by which an OWNER or ADMIN manages the users of the account (rule D5).
import type { Manager } from '../../../application/accounts/members.ts';
import type { Changer } from '../../../application/core/eventMetadata.ts';
import { parsePrefixedId, type UserId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../domain/kernel/rejection.ts';
import { NOT_A_MANAGER } from '../../../domain/user/management.ts';
import { ACCOUNT_ROLES, type KnownUser, mayManageKeys, USER, USER_NAME_LENGTH_MAX } from '../../../domain/user/user.ts';
import type { SessionCaller } from '../../kernel/callers.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, type RouteContext, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import { emailSchema, loginProblems } from '../accounts/operatorAccounts.ts';
import { NO_CURSOR, pageOf, pageQuery, pageSchema } from '../ops/operatorRoutes.ts';
import { DASHBOARD } from './login.ts';
import { nameProblems, userParam } from './operatorUsers.ts';

const role = s.described('What the user may do in the account.', s.oneOfTexts(ACCOUNT_ROLES));
const memberSchema = s.exactly({
  id: s.id(USER.idPrefix),
  email: s.string(),
  name: s.string(),
  role,
  status: s.described('A disabled user can’t log in.', s.oneOfTexts(['active', 'disabled'])),
  createdAt: s.timestamp,
});

const memberView = ({
  userId,
  email,
  name,
  role: of,
  status,
  addedAt,
}: Pick<KnownUser, 'userId' | 'email' | 'name' | 'role' | 'status' | 'addedAt'>) => ({
  id: USER.idPrefix + userId,
  email,
  name,
  role: of as (typeof ACCOUNT_ROLES)[number],
  status,
  createdAt: addedAt,
});

const ofManagers = {
  tag: DASHBOARD,
  principal: 'session',
  refusalOf: ({ role: of }: SessionCaller) => (mayManageKeys(of) ? null : NOT_A_MANAGER),
} as const;
const MEMBER_NOW = { 200: json('The user after the change.', memberSchema) } as const;

const memberOrRefusal = (done: KnownUser | Rejection) =>
  isRejection(done) ? done : { status: 200 as const, body: memberView(done) };

/** Returns the caller as the use cases know managers. */
export const managerOf = ({ userId, tenant: { accountId } }: Pick<SessionCaller, 'userId' | 'tenant'>): Manager => ({
  userId,
  accountId,
});

const listMembersRoute = route('GET', '/v1/users', {
  operationId: 'listMembers',
  summary: 'List the users of the account',
  description: 'Returns the users of the account, in the order in which they were added.',
  ...ofManagers,
  query: pageQuery('a usr_ id', (text) => parsePrefixedId<UserId>(text, USER.idPrefix)),
  refusesUnknownQuery: true,
  reads: ['users'],
  responses: { 200: json('A page of users.', pageSchema(memberSchema)) },
  handle: async ({ caller, query: { limit, startingAfter: after = null }, services }) => {
    const { accountId } = caller.tenant;
    if (after !== null && (await services.findMember(accountId, after)) === null) return NO_CURSOR;
    const found = await services.listMembers(accountId, { after, limit: limit + 1 });
    return { status: 200, body: pageOf(found.map(memberView), limit) };
  },
});

const inviteMemberRoute = route('POST', '/v1/users/invite', {
  operationId: 'inviteMember',
  summary: 'Invite a user to the account',
  description:
    'Creates a user and sends an email with a link to set the first password. The link works once, within one hour. For an invited user who has no password yet, it sends a new link. Only an OWNER can invite an OWNER.',
  ...ofManagers,
  reads: ['users'],
  body: jsonBody({
    schema: s.accepting({
      email: emailSchema,
      role,
      name: s.optional(s.described('Default: the email address.', s.string(USER_NAME_LENGTH_MAX))),
    }),
    refine: (body) => [...loginProblems(body), ...nameProblems(body.name)],
  }),
  responses: { 202: json('The user. The link is being sent.', memberSchema) },
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, body, services } = context;
    const wish = { email: body.email, role: body.role, name: body.name?.trim() ?? body.email };
    const invited = await services.inviteMember(managerOf(caller), wish, actorOf(context));
    return isRejection(invited) ? invited : { status: 202, body: memberView(invited) };
  },
});

const changeMemberRoleRoute = route('POST', '/v1/users/{id}/role', {
  operationId: 'changeMemberRole',
  params: userParam,
  summary: 'Change the role of a user of the account',
  description:
    'Changes the role of another user of the account, which applies to current sessions immediately. Only an OWNER can make or change an OWNER.',
  ...ofManagers,
  body: jsonBody({ schema: s.accepting({ role }) }),
  responses: MEMBER_NOW,
  errors: ['change_limit_reached'],
  handle: async (context) => {
    const { caller, params, body, services } = context;
    return memberOrRefusal(await services.changeMemberRole(managerOf(caller), params.id, body.role, actorOf(context)));
  },
});

type Change = (services: AppServices, manager: Manager, userId: UserId, by: Changer) => Promise<KnownUser | Rejection>;

const statusRoute = (verb: 'disable' | 'enable', summary: string, description: string, change: Change) =>
  route('POST', `/v1/users/{id}/${verb}`, {
    operationId: `${verb}Member`,
    params: userParam,
    summary,
    description,
    ...ofManagers,
    responses: MEMBER_NOW,
    errors: verb === 'enable' ? ['change_limit_reached'] : [],
    handle: async (context: RouteContext<'session', typeof userParam>) => {
      const { caller, params, services } = context;
      return memberOrRefusal(await change(services, managerOf(caller), params.id, actorOf(context)));
    },
  });

export const MEMBER_ROUTES = [
  listMembersRoute,
  inviteMemberRoute,
  changeMemberRoleRoute,
  statusRoute(
    'disable',
    'Disable a user of the account',
    'Disables another user of the account, who can’t log in until enabled again. All sessions of this user end immediately.',
    ({ disableMember }, ...asked) => disableMember(...asked),
  ),
  statusRoute(
    'enable',
    'Enable a disabled user of the account',
    'Enables a disabled user of the account, who can then log in again.',
    ({ enableMember }, ...asked) => enableMember(...asked),
  ),
];
