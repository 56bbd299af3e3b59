// /dashboard/{mode}/settings/team: the users of the account, for its OWNERs and ADMINs (rule D5).

import type { ListedUser } from '../../../../application/ports/readModels/views.ts';
import { isEmailAddress } from '../../../../domain/kernel/email.ts';
import { parsePrefixedId, type UserId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { managementRefusal } from '../../../../domain/user/management.ts';
import { ACCOUNT_ROLES, type AccountRole, NO_USER, USER, USER_NAME_LENGTH_MAX } from '../../../../domain/user/user.ts';
import { managerOf } from '../../../api/access/members.ts';
import { userParam } from '../../../api/access/operatorUsers.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  textQuery,
  unlessManager,
} from '../page.ts';
import { inviteAgain, options, userBadge } from '../parts.ts';
import { tableOf } from '../tables.ts';
import { refusalText } from '../texts/refusals.ts';
import type { DoneAction } from '../texts/texts.ts';
import { SECTION } from './account.ts';

const PATH = '/settings/team';
const PAGE_SIZE = 25;

interface Fields {
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
}
const EMPTY: Fields = { email: '', name: '', role: 'MEMBER' };
const roleOf = (text: string): AccountRole | null => ACCOUNT_ROLES.find((one) => one === text) ?? null;

/** Returns why the reader may not change the user or assign the role, or null if this is allowed. */
const refusalOf = ({ caller }: Reader, user: ListedUser | null, role: AccountRole | null): Rejection | null =>
  managementRefusal({ ...caller, status: 'active' }, user, role);

const roleOptions = (chosen: string, user: ListedUser | null, reader: Reader): Markup =>
  html`${options(
    ACCOUNT_ROLES.filter((role) => refusalOf(reader, user, role) === null).map((role) => [
      role,
      reader.texts.team.roles[role],
    ]),
    chosen,
  )}`;

/** The reader's possible actions on a user, or the reason against any. */
const actions = (user: ListedUser, reader: Reader): Markup => {
  const { texts, to, csrf, language } = reader;
  const { team } = texts;
  const refusal = refusalOf(reader, user, null);
  if (refusal !== null) return html`<p class="muted small wide">${refusalText(refusal, language)}</p>`;
  const at = `${PATH}/${USER.idPrefix}${user.userId}`;
  return html`<div class="row"><form method="post" class="row" action="${to(`${at}/role`)}">${csrf}
<select name="role" aria-label="${team.roleOf(user.name)}">${roleOptions(user.role, user, reader)}</select><button class="second">${team.change}</button></form>
${
  user.status === 'active'
    ? html`${user.hasPassword ? null : inviteAgain(user, to(PATH), team.inviteAgain, reader)}<form method="post" action="${to(`${at}/disable`)}">${csrf}<button class="danger">${team.disable}</button></form>`
    : html`<form method="post" action="${to(`${at}/enable`)}">${csrf}<button class="second">${team.enable}</button></form>`
}</div>`;
};

const table = (users: readonly ListedUser[], reader: Reader): Markup => {
  const { texts, language } = reader;
  const { team } = texts;
  return tableOf(
    team.users,
    [team.user, team.role, texts.payments.status, team.addedAt, texts.payment.actions],
    users.map(
      (user) =>
        html`<tr><th scope="row" class="wide"><bdi>${user.name}</bdi><br><span class="muted small">${user.email}</span></th><td>${user.role === 'OPERATOR' ? texts.none : team.roles[user.role]}</td>
<td>${userBadge(user, reader)}</td><td>${instant(user.addedAt, language)}</td><td>${actions(user, reader)}</td></tr>`,
    ),
  );
};

const inviting = (fields: Fields, reader: Reader): Markup => {
  const { texts, to, csrf } = reader;
  const { team, create } = texts;
  return html`<section class="panel"><h2>${team.invite}</h2><p class="muted">${team.inviteLead}</p><form method="post" class="stack narrow" action="${to(PATH)}">${csrf}
<label>${texts.signIn.email}<input name="email" type="email" value="${fields.email}" maxlength="254" autocomplete="off" required></label>
<label>${team.name} (${create.optional})<input name="name" value="${fields.name}" maxlength="${USER_NAME_LENGTH_MAX}" autocomplete="off"></label>
<label>${team.role}<select name="role">${roleOptions(fields.role, null, reader)}</select></label>
<p><button>${team.inviteButton}</button></p></form>
<dl>${ACCOUNT_ROLES.map((role) => html`<div><dt>${team.roles[role]}</dt><dd>${team.rights[role]}</dd></div>`)}</dl></section>`;
};

const contentOf = async (reader: Reader, fields: Fields, after: UserId | null = null) => {
  const { services, tenant, texts, to } = reader;
  const found = await services.listMembers(tenant.accountId, { after, limit: PAGE_SIZE + 1 });
  const shown = found.slice(0, PAGE_SIZE);
  const last = found.length > PAGE_SIZE ? shown.at(-1) : undefined;
  return {
    title: texts.team.title,
    section: SECTION,
    main: html`<section class="panel"><h2>${texts.team.users}</h2>${table(shown, reader)}
<p class="row pager">${after === null ? null : html`<a href="${to(PATH)}">${texts.team.first}</a>`}${last ? html`<a href="${to(PATH)}?after=${USER.idPrefix}${last.userId}" rel="next">${texts.team.next}</a>` : null}</p></section>
${inviting(fields, reader)}<p><a href="${to(SECTION)}">${texts.back}</a></p>`,
  };
};

const ofTeam = { ...ofMember, params: modeParam, refusalOf: unlessManager, reads: ['users'] } as const;

const teamRoute = route('GET', '/dashboard/{mode}/settings/team', {
  ...ofTeam,
  operationId: 'showTeam',
  summary: 'Show the users of the account',
  query: { ...pageQuery, after: textQuery('The last user of the page before.') },
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const after = parsePrefixedId<UserId>(context.query.after ?? '', USER.idPrefix);
    return shownPage(200, context, reader, await contentOf(reader, EMPTY, after));
  },
});

const inviteRoute = route('POST', '/dashboard/{mode}/settings/team', {
  ...ofTeam,
  operationId: 'inviteFromPage',
  summary: 'Invite a user',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, caller, actor, texts, to } = reader;
    const { body } = context;
    const fields = {
      email: body.text('email'),
      name: body.text('name'),
      role: roleOf(body.text('role')) ?? EMPTY.role,
    };
    const again = async (problem: string | Rejection) =>
      shownPage(422, context, reader, { ...(await contentOf(reader, fields)), problem });
    if (!isEmailAddress(fields.email)) return again(texts.team.badEmail);
    const name = fields.name === '' ? fields.email : [...fields.name].slice(0, USER_NAME_LENGTH_MAX).join('');
    const done = await services.inviteMember(managerOf(caller), { ...fields, name }, actor);
    return isRejection(done) ? again(done) : redirect(to(PATH), 'invited');
  },
});

const acting = {
  ...ofTeam,
  params: { ...modeParam, ...userParam },
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;
type Acting = RouteContext<'member', (typeof acting)['params'], typeof pageQuery, typeof FORM>;

/** Performs the action and redirects to the team. A rejection is shown above the team. */
const acted = async (context: Acting, done: DoneAction, act: (reader: Reader) => Promise<unknown>) => {
  const reader = readerOf(context);
  const { services, tenant, to } = reader;
  if ((await services.findMember(tenant.accountId, context.params.id)) === null) return NO_USER;
  const outcome = await act(reader);
  if (!isRejection(outcome)) return redirect(to(PATH), done);
  return shownPage(422, context, reader, { ...(await contentOf(reader, EMPTY)), problem: outcome });
};

const roleRoute = route('POST', '/dashboard/{mode}/settings/team/{id}/role', {
  ...acting,
  operationId: 'changeRoleFromPage',
  summary: 'Change the role of a user',
  handle: (context) =>
    acted(context, 'roleChanged', async ({ services, caller, actor, texts }) => {
      const role = roleOf(context.body.text('role'));
      return role === null
        ? { rejected: true, code: 'invalid_request', message: texts.team.badRole }
        : services.changeMemberRole(managerOf(caller), context.params.id, role, actor);
    }),
});

const disableRoute = route('POST', '/dashboard/{mode}/settings/team/{id}/disable', {
  ...acting,
  operationId: 'disableUserFromPage',
  summary: 'Disable a user',
  handle: (context) =>
    acted(context, 'userDisabled', ({ services, caller, actor }) =>
      services.disableMember(managerOf(caller), context.params.id, actor),
    ),
});

const enableRoute = route('POST', '/dashboard/{mode}/settings/team/{id}/enable', {
  ...acting,
  operationId: 'enableUserFromPage',
  summary: 'Enable a user',
  handle: (context) =>
    acted(context, 'userEnabled', ({ services, caller, actor }) =>
      services.enableMember(managerOf(caller), context.params.id, actor),
    ),
});

export const TEAM_PAGES = [teamRoute, inviteRoute, roleRoute, disableRoute, enableRoute];
