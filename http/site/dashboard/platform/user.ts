// /dashboard/platform/users/{id}: one user of an account or of the platform: role, sign-in, second factor.
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { parsePrefixedId, type UserId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { ACCOUNT_ROLES, type KnownUser, NO_USER, USER } from '../../../../domain/user/user.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { pathParam, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Content } from '../page.ts';
import { fact, userBadge } from '../parts.ts';
import { confirmed } from '../secret.ts';
import { ACCOUNTS } from './accounts.ts';
import { acted, acting, showing, shown } from './acting.ts';
import { OPERATORS } from './operators.ts';
import type { Operator } from './page.ts';
import { accountLink, choice, simpleForm } from './parts.ts';

const placeOf = (id: UserId): string => `/users/${USER.idPrefix}${id}`;

const facts = (user: KnownUser, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { users: words } = texts.platform;
  const { userId, accountId, email, role, status, addedAt, secondFactorId, passwordId } = user;
  return html`<section class="panel"><h2>${texts.payment.facts}</h2><dl>${fact(words.user, html`<code>${USER.idPrefix}${userId}</code>`)}
${fact(texts.signIn.email, email)}${fact(texts.platform.account, accountId === null ? null : accountLink(ACCOUNT.idPrefix + accountId, null, operator))}
${fact(words.role, words.roles[role])}${fact(texts.payments.status, userBadge({ status, hasPassword: passwordId !== null }, operator))}
${fact(words.hasPassword, passwordId === null ? texts.no : texts.yes)}${fact(texts.settings.factor, secondFactorId === null ? texts.no : texts.yes)}
${fact(words.addedAt, instant(addedAt, language))}</dl></section>`;
};

const actions = ({ userId, role, status, secondFactorId, accountId }: KnownUser, operator: Operator): Markup => {
  const { texts, to, caller, csrf } = operator;
  const { users: words } = texts.platform;
  const path = to(placeOf(userId));
  const roles = ACCOUNT_ROLES.map((one) => [one, words.roles[one]] as const);
  const isSelf = caller.userId === userId;
  const standing =
    status === 'disabled'
      ? simpleForm(`${path}/enable`, words.enableLead, html`<button>${words.enable}</button>`, operator)
      : confirmed(words.disable, words.disableLead, `${path}/disable`, operator);
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>${
    accountId === null
      ? html`<p class="muted">${words.operatorsRole}</p>`
      : html`<form method="post" action="${path}/role" class="action">${csrf}<p class="muted">${words.roleLead}</p>
${choice('role', words.role, roles, role === 'OPERATOR' ? null : role)}<button class="second">${words.changeRole}</button></form>`
  }
${simpleForm(`${path}/password-link`, words.passwordLead, html`<button class="second">${words.sendPassword}</button>`, operator)}
${secondFactorId === null ? html`<p class="muted">${words.noFactor}</p>` : confirmed(words.resetFactor, words.resetFactorLead, `${path}/reset-second-factor`, operator)}
${isSelf ? html`<p class="muted">${words.self}</p>` : standing}</section>`;
};

const onePage =
  (id: UserId) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const user = await platform.findUser(id);
    if (user === null) return NO_USER;
    const section = user.accountId === null ? OPERATORS : ACCOUNTS;
    const back = user.accountId === null ? OPERATORS : `${ACCOUNTS}/${ACCOUNT.idPrefix}${user.accountId}`;
    return {
      title: user.name,
      section,
      main: html`<div class="two"><div>${facts(user, operator)}</div><div>${actions(user, operator)}</div></div><p><a href="${to(back)}">${texts.back}</a></p>`,
    };
  };

const AT = `${PLATFORM_PAGES}/users/{id}`;
const one = {
  params: {
    id: pathParam('The `usr_` id of the user.', (text) => parsePrefixedId<UserId>(text, USER.idPrefix) ?? NO_USER),
  },
} as const;

const oneRoute = route('GET', AT, {
  ...showing,
  ...one,
  operationId: 'showUserPage',
  summary: 'Show a user, and what can be done with it',
  handle: (context) => shown(context, onePage(context.params.id)),
});

const statusRoute = (verb: 'disable' | 'enable', summary: string) =>
  route('POST', `${AT}/${verb}`, {
    ...acting,
    ...one,
    operationId: `${verb}AnyUserFromPage`,
    summary,
    handle: (context) => {
      const { id } = context.params;
      const act = ({ platform, actor }: Operator) =>
        verb === 'disable' ? platform.disableUser(id, actor) : platform.enableUser(id, actor);
      const done = verb === 'disable' ? 'userDisabled' : 'userEnabled';
      return acted(context, { act, done, place: placeOf(id), page: onePage(id) });
    },
  });

const roleRoute = route('POST', `${AT}/role`, {
  ...acting,
  ...one,
  operationId: 'changeAnyRoleFromPage',
  summary: 'Change the role of a user of an account',
  reads: ['users'],
  handle: (context) => {
    const { id } = context.params;
    const role = ACCOUNT_ROLES.find((known) => known === context.body.text('role')) ?? 'VIEWER';
    const act = ({ platform, actor }: Operator) => platform.changeRole(id, role, actor);
    return acted(context, { act, done: 'roleChanged', place: placeOf(id), page: onePage(id) });
  },
});

const passwordRoute = route('POST', `${AT}/password-link`, {
  ...acting,
  ...one,
  operationId: 'sendPasswordLinkFromPage',
  summary: 'Send a user a link to set a new password',
  handle: (context) => {
    const { id } = context.params;
    const act = async ({ platform, services }: Operator) => {
      const user = await platform.findUser(id);
      return user === null ? NO_USER : services.requestPasswordLink('reset', user.email);
    };
    return acted(context, { act, done: 'passwordLinkSent', place: placeOf(id), page: onePage(id) });
  },
});

const factorRoute = route('POST', `${AT}/reset-second-factor`, {
  ...acting,
  ...one,
  operationId: 'resetSecondFactorFromPage',
  summary: 'Remove the second factor of a user',
  handle: (context) => {
    const { id } = context.params;
    const act = async ({ platform, actor, services }: Operator) => {
      const done = await platform.resetSecondFactor(id, actor);
      if (!isRejection(done))
        services.reportSecurityEvent({
          security: 'second_factor_reset',
          by: actor.actor,
          user: USER.idPrefix + id,
          requestId: actor.requestId,
        });
      return done;
    };
    return acted(context, { act, done: 'factorReset', place: placeOf(id), page: onePage(id) });
  },
});

export const USER_PAGES = [
  oneRoute,
  statusRoute('disable', 'Disable a user'),
  statusRoute('enable', 'Enable a disabled user'),
  roleRoute,
  passwordRoute,
  factorRoute,
];
