// /dashboard/platform/accounts/{id}: one account: its settings, logo, users and keys.
import { ACCOUNT, NO_ACCOUNT, type OpenAccount } from '../../../../domain/account/account.ts';
import { type AccountId, type KeyId, PREFIX, parsePrefixedId, type UserId } from '../../../../domain/kernel/ids.ts';
import type { Rejection } from '../../../../domain/kernel/rejection.ts';
import { USER } from '../../../../domain/user/user.ts';
import { accountParam } from '../../../api/accounts/operatorAccounts.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, pageQuery, textQuery } from '../page.ts';
import { fact } from '../parts.ts';
import { confirmed } from '../secret.ts';
import { logoPanel } from '../settings/account.ts';
import { keysPanel, type TypedKey } from './accountKeys.ts';
import { settingsPanels, type TypedSetting } from './accountSettings.ts';
import { ACCOUNTS, standingBadge } from './accounts.ts';
import { showing, shown } from './acting.ts';
import type { Operator } from './page.ts';
import { pager, simpleForm } from './parts.ts';
import { addForm, type TypedUser, usersTable } from './users.ts';

/** Users shown at once, so that the page stays below 60 kB. */
const USERS_LISTED = 30;
export const placeOf = (id: AccountId): string => `${ACCOUNTS}/${ACCOUNT.idPrefix}${id}`;

/** The lists of the page begin after these entries; null: with the first entry. */
interface Begins {
  readonly usersAfter: UserId | null;
  readonly keysAfter: KeyId | null;
}
const FROM_THE_FIRST: Begins = { usersAfter: null, keysAfter: null };

/** The submitted values of one of the forms. */
interface Typed extends TypedSetting, TypedUser, TypedKey {}

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

const usersPanel = async (
  { accountId }: OpenAccount,
  after: UserId | null,
  typed: TypedUser,
  operator: Operator,
): Promise<Markup> => {
  const { texts, platform, to } = operator;
  const { users: words } = texts.platform;
  const found = await platform.listUsers(accountId, { after, limit: USERS_LISTED + 1 });
  const listed = found.slice(0, USERS_LISTED);
  const last = found.length > USERS_LISTED ? listed.at(-1) : undefined;
  const page = to(placeOf(accountId));
  const next = last === undefined ? null : USER.idPrefix + last.userId;
  return html`<section class="panel"><h2>${words.title}</h2>${usersTable(listed, listed.length, `${page}/users`, operator)}
${pager(page, 'usersAfter', after === null, next, operator)}${addForm(`${page}/users`, true, typed, operator)}</section>`;
};

export const onePage =
  (id: AccountId, typed: Typed = {}, { usersAfter, keysAfter } = FROM_THE_FIRST) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const account = await platform.findAccount(id);
    if (account === null) return NO_ACCOUNT;
    const path = to(placeOf(id));
    const users = await usersPanel(account, usersAfter, typed, operator);
    const keys = await keysPanel(id, path, keysAfter, typed, operator);
    return {
      title: account.name,
      section: ACCOUNTS,
      main: html`<p class="under">${standingBadge(account, operator)}</p>
<div class="two"><div>${facts(account, operator)}${users}</div><div>${standing(account, operator)}${logoPanel(account.settings, `${path}/logo`, null, operator)}</div></div>
${keys}${settingsPanels(account, path, typed, operator)}<p><a href="${to(ACCOUNTS)}">${texts.back}</a></p>`,
    };
  };

const oneRoute = route('GET', `${PLATFORM_PAGES}${ACCOUNTS}/{id}`, {
  ...showing,
  params: accountParam,
  operationId: 'showAccountPage',
  summary: 'Show an account, and what can be done with it',
  query: {
    ...pageQuery,
    usersAfter: textQuery('The last user of the list before.'),
    keysAfter: textQuery('The last API key of the list before.'),
  },
  reads: ['users'],
  handle: (context) => {
    const { params, query } = context;
    const begins = {
      usersAfter: parsePrefixedId<UserId>(query.usersAfter ?? '', USER.idPrefix),
      keysAfter: parsePrefixedId<KeyId>(query.keysAfter ?? '', PREFIX.key),
    };
    return shown(context, onePage(params.id, {}, begins));
  },
});

export const ACCOUNT_PAGES = [oneRoute];
