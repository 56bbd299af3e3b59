// /dashboard/platform/accounts/{id}: one account: its settings, users and keys; suspend and reopen it.
import { ACCOUNT, type OpenAccount } from '../../../../domain/account/account.ts';
import { isEmailAddress } from '../../../../domain/kernel/email.ts';
import { type AccountId, PREFIX } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import type { ApiKey } from '../../../../domain/keyring/keyring.ts';
import { ACCOUNT_ROLES, type AccountRole, USER } from '../../../../domain/user/user.ts';
import { keyParam } from '../../../api/access/apiKeys.ts';
import { accountParam, NO_ACCOUNT } from '../../../api/accounts/operatorAccounts.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, PAGE, REDIRECT, redirect } from '../page.ts';
import { fact } from '../parts.ts';
import { confirmed } from '../secret.ts';
import { settingChangeOf, settingsPanels, type TypedSetting } from './accountSettings.ts';
import { ACCOUNTS, secretsPage } from './accounts.ts';
import { acted, acting, said, showing, shown, shownAgain } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { choice, field, listOf, simpleForm } from './parts.ts';

const USERS_LISTED = 50;
const placeOf = (id: AccountId): string => `${ACCOUNTS}/${ACCOUNT.idPrefix}${id}`;

/** What was typed into one of the forms. */
interface Typed extends TypedSetting {
  readonly email?: string;
  readonly name?: string;
}

const facts = ({ accountId, name, email, openedAt, suspendedAt }: OpenAccount, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { accounts: words } = texts.platform;
  return html`<section class="panel"><h2>${texts.payment.facts}</h2><dl>${fact(texts.platform.account, html`<code>${ACCOUNT.idPrefix}${accountId}</code>`)}
${fact(words.name, name)}${fact(words.ownersEmail, email)}${fact(words.openedAt, instant(openedAt, language))}
${fact(words.suspendedAt, suspendedAt === null ? null : instant(suspendedAt, language))}</dl></section>`;
};

const standing = ({ accountId, suspendedAt }: OpenAccount, operator: Operator): Markup => {
  const { texts, to } = operator;
  const { accounts: words } = texts.platform;
  const path = to(placeOf(accountId));
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>${
    suspendedAt === null
      ? confirmed(words.suspend, words.suspendLead, `${path}/suspend`, operator)
      : simpleForm(`${path}/reopen`, words.reopenLead, html`<button>${words.reopen}</button>`, operator)
  }</section>`;
};

const usersPanel = async ({ accountId }: OpenAccount, typed: Typed, operator: Operator): Promise<Markup> => {
  const { texts, platform, to, csrf } = operator;
  const { users: words } = texts.platform;
  const found = await platform.listUsers(accountId, { after: null, limit: USERS_LISTED });
  const rows = found.map(
    ({ userId, name, email, role, status }) =>
      html`<tr><th scope="row" class="wide"><a href="${to(`/users/${USER.idPrefix}${userId}`)}">${name}</a><br><span class="muted small">${email}</span></th><td>${words.roles[role]}</td><td>${words.statuses[status]}</td></tr>`,
  );
  const roles = ACCOUNT_ROLES.map((role) => [role, words.roles[role]] as const);
  const ways = [
    ['invite', words.invite],
    ['password', words.withPassword],
  ] as const;
  return html`<section class="panel"><h2>${words.title}</h2>${listOf(words.title, [words.user, words.role, texts.payments.status], rows, words.empty, rows.length, operator)}
<details><summary>${words.add}</summary><form method="post" action="${to(placeOf(accountId))}/users" class="stack narrow">${csrf}${field('email', texts.signIn.email, typed.email ?? '', null)}
${field('name', words.name, typed.name ?? '', null)}${choice('role', words.role, roles, 'MEMBER')}${choice('how', words.how, ways, 'invite')}<p><button>${words.add}</button></p></form></details></section>`;
};

const keyRow = (key: ApiKey, lastUsed: string | null, path: string, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { keyId, prefix, label, mode, issuedAt } = key;
  return html`<tr><th scope="row" class="wide"><code>${prefix}…</code><br><span class="muted small">${label ?? texts.none}</span></th><td>${texts.mode[mode]}</td><td>${instant(issuedAt, language)}</td>
<td>${instant(lastUsed, language)}</td><td>${confirmed(texts.developers.revoke, texts.developers.revokeLead, `${path}/keys/${PREFIX.key}${keyId}/revoke`, operator)}</td></tr>`;
};

const keysPanel = async ({ accountId }: OpenAccount, operator: Operator): Promise<Markup> => {
  const { texts, services, platform, to } = operator;
  const { developers, platform: words } = texts;
  const keys = await services.listApiKeys(accountId);
  const lastUsed = await platform.lastKeyUses(keys.map(({ keyId }) => keyId));
  const rows = keys.map((key) => keyRow(key, lastUsed.get(key.keyId) ?? null, to(placeOf(accountId)), operator));
  const heads = [developers.key, texts.mode.label, developers.issuedAt, words.accounts.lastUsed, developers.revoke];
  return html`<section class="panel"><h2>${developers.keys}</h2>${listOf(developers.keys, heads, rows, words.accounts.noKeys, rows.length, operator)}</section>`;
};

const onePage =
  (id: AccountId, typed: Typed = {}) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const account = await platform.findAccount(id);
    if (account === null) return NO_ACCOUNT;
    const { accounts: words } = texts.platform;
    const { suspendedAt } = account;
    return {
      title: account.name,
      section: ACCOUNTS,
      main: html`<p class="under"><span class="status ${suspendedAt === null ? 'paid' : 'failed'}">${suspendedAt === null ? words.open : words.suspended}</span></p>
<div class="two"><div>${facts(account, operator)}${await usersPanel(account, typed, operator)}</div><div>${standing(account, operator)}</div></div>
${await keysPanel(account, operator)}${settingsPanels(account, to(placeOf(id)), typed, operator)}<p><a href="${to(ACCOUNTS)}">${texts.back}</a></p>`,
    };
  };

const AT = `${PLATFORM_PAGES}${ACCOUNTS}/{id}`;
const one = { params: accountParam } as const;

const oneRoute = route('GET', AT, {
  ...showing,
  ...one,
  operationId: 'showAccountPage',
  summary: 'Show an account, and what can be done with it',
  reads: ['users'],
  handle: (context) => shown(context, onePage(context.params.id)),
});

const suspendRoute = route('POST', `${AT}/suspend`, {
  ...acting,
  ...one,
  operationId: 'suspendAccountFromPage',
  summary: 'Suspend an account',
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => platform.suspendAccount(id, actor);
    return acted(context, { act, done: 'accountSuspended', place: placeOf(id), page: onePage(id) });
  },
});

const reopenRoute = route('POST', `${AT}/reopen`, {
  ...acting,
  ...one,
  operationId: 'reopenAccountFromPage',
  summary: 'Reopen a suspended account',
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => platform.reopenAccount(id, actor);
    return acted(context, { act, done: 'accountReopened', place: placeOf(id), page: onePage(id) });
  },
});

const settingsRoute = route('POST', `${AT}/settings`, {
  ...acting,
  ...one,
  operationId: 'changeSettingsOfAccountFromPage',
  summary: 'Change a setting of an account',
  handle: (context) => {
    const { id } = context.params;
    const [option, value] = [context.body.text('option'), context.body.text('value')];
    const act = async (operator: Operator): Promise<unknown> => {
      if ((await operator.platform.findAccount(id)) === null) return NO_ACCOUNT;
      const change = settingChangeOf(option, value, operator);
      return isRejection(change) ? change : operator.services.changeAccountSettings(id, change, operator.actor);
    };
    return acted(context, { act, done: 'settingsChanged', place: placeOf(id), page: onePage(id, { option, value }) });
  },
});

const addUserRoute = route('POST', `${AT}/users`, {
  ...acting,
  ...one,
  operationId: 'addUserFromPage',
  summary: 'Add a user to an account: by an invitation, or with a password that is shown once',
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { platform, actor, texts, to } = operator;
    const { id } = context.params;
    const { body } = context;
    const [email, name] = [body.text('email'), body.text('name')];
    const role: AccountRole = ACCOUNT_ROLES.find((known) => known === body.text('role')) ?? 'VIEWER';
    const wish = { accountId: id, email, name: name === '' ? email : name, role };
    const again = (refusal: Rejection) => shownAgain(context, operator, onePage(id, { email, name }), refusal);
    if (!isEmailAddress(email)) return again(said(texts.platform.accounts.badEmail));
    if (body.text('how') !== 'password') {
      const invited = await platform.inviteUser(wish, actor);
      return isRejection(invited) ? again(invited) : redirect(to(placeOf(id)), 'userInvited');
    }
    const added = await platform.addUser({ ...wish, password: null }, actor);
    if (isRejection(added)) return again(added);
    const secrets = [
      [texts.signIn.email, email],
      [texts.signIn.password, added.password],
    ] as const;
    const page = secretsPage(texts.platform.users.added, secrets, placeOf(id), operator);
    return shownToOperator(200, context, operator, page);
  },
});

const revokeRoute = route('POST', `${AT}/keys/{keyId}/revoke`, {
  ...acting,
  params: { ...accountParam, keyId: keyParam.id },
  operationId: 'revokeKeyOfAccountFromPage',
  summary: 'Revoke an API key of an account',
  handle: (context) => {
    const { id, keyId } = context.params;
    const act = ({ services, actor }: Operator) => services.revokeApiKey(id, keyId, actor);
    return acted(context, { act, done: 'keyRevoked', place: placeOf(id), page: onePage(id) });
  },
});

export const ACCOUNT_PAGES = [oneRoute, suspendRoute, reopenRoute, settingsRoute, addUserRoute, revokeRoute];
