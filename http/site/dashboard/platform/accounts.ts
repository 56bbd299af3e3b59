// /dashboard/platform/accounts: the accounts, found by id or email address, and a new one.
import type { ListedAccount } from '../../../../application/ports/readModels/views.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { isEmailAddress } from '../../../../domain/kernel/email.ts';
import { type AccountId, parsePrefixedId } from '../../../../domain/kernel/ids.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { USER } from '../../../../domain/user/user.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, PAGE, pageQuery, REDIRECT, redirect, textQuery } from '../page.ts';
import { badge } from '../parts.ts';
import { tableOf } from '../tables.ts';
import { answering, said, showing, shown, shownAgain } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { field, finder, pager, secretsPage } from './parts.ts';

export const ACCOUNTS = '/accounts';
const PAGE_SIZE = 50;

const accountIn = (text: string): AccountId | null => parsePrefixedId<AccountId>(text, ACCOUNT.idPrefix);

/** A badge that shows whether an account is open or suspended. */
export const standingBadge = ({ suspendedAt }: Pick<ListedAccount, 'suspendedAt'>, { texts }: Operator): Markup => {
  const { accounts: words } = texts.platform;
  return suspendedAt === null ? badge(words.open, 'good') : badge(words.suspended, 'bad');
};

const row = ({ accountId, name, email, openedAt, suspendedAt }: ListedAccount, operator: Operator): Markup => {
  const { language, to } = operator;
  const id = ACCOUNT.idPrefix + accountId;
  return html`<tr><th scope="row" class="wide"><a href="${to(`${ACCOUNTS}/${id}`)}">${name}</a><br><code>${id}</code></th><td class="wide">${email}</td>
<td>${standingBadge({ suspendedAt }, operator)}</td><td>${instant(openedAt, language)}</td></tr>`;
};

const listPage =
  (after: AccountId | null, sought = '', problem?: string) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, platform, to } = operator;
    const { accounts: words, sections } = texts.platform;
    const found = await platform.listAccounts({ after, limit: PAGE_SIZE + 1 });
    const rows = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? rows.at(-1) : undefined;
    const next = last === undefined ? null : ACCOUNT.idPrefix + last.accountId;
    const heads = [words.name, texts.signIn.email, texts.payments.status, words.openedAt];
    return {
      title: sections.accounts,
      section: ACCOUNTS,
      ...(problem !== undefined && { problem }),
      main: html`<section class="panel">${finder(words.find, sought, words.findHint, words.show)}
${
  rows.length === 0
    ? html`<p class="empty">${words.empty}</p>`
    : tableOf(
        sections.accounts,
        heads,
        rows.map((one) => row(one, operator)),
      )
}
${pager(to(ACCOUNTS), 'after', after === null, next, operator, html`<a class="button" href="${to(`${ACCOUNTS}/new`)}">${words.create}</a>`)}</section>`,
    };
  };

/** Returns the page of the account or user that the text names, or null. */
const placeOf = async (text: string, { platform }: Operator): Promise<string | null> => {
  const named = accountIn(text);
  if (named !== null) return (await platform.findAccount(named)) === null ? null : `${ACCOUNTS}/${text}`;
  const userId = isEmailAddress(text) ? await platform.findUserId(text) : null;
  const user = userId === null ? null : await platform.findUser(userId);
  return user === null ? null : `/users/${USER.idPrefix}${user.userId}`;
};

const listRoute = route('GET', `${PLATFORM_PAGES}${ACCOUNTS}`, {
  ...showing,
  operationId: 'showAccounts',
  summary: 'Show accounts, and find one',
  query: {
    ...pageQuery,
    q: textQuery('The id of an account, or the email address of a user.'),
    after: textQuery('The last account of the page before.'),
  },
  reads: ['accounts'],
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { q = '', after = '' } = context.query;
    const sought = q.trim();
    if (sought === '') return shown(context, listPage(accountIn(after)));
    const place = await placeOf(sought, operator);
    if (place !== null) return redirect(operator.to(place));
    const page = await listPage(null, sought, operator.texts.platform.accounts.unknown)(operator);
    return shownToOperator(422, context, operator, page);
  },
});

const newPage =
  (name = '', email = '') =>
  async ({ texts, to, csrf }: Operator): Promise<Content> => {
    const { accounts: words } = texts.platform;
    return {
      title: words.create,
      section: ACCOUNTS,
      main: html`<section class="panel"><p class="muted">${words.createLead}</p><form method="post" action="${to(`${ACCOUNTS}/new`)}" class="stack narrow">${csrf}
${field('name', words.name, name, words.nameHint)}${field('email', words.ownersEmail, email, null)}<p class="row"><button>${words.create}</button><a href="${to(ACCOUNTS)}">${texts.back}</a></p></form></section>`,
    };
  };

const newRoute = route('GET', `${PLATFORM_PAGES}${ACCOUNTS}/new`, {
  ...showing,
  operationId: 'showNewAccount',
  summary: 'Show the form of a new account',
  handle: (context) => shown(context, newPage()),
});

const createRoute = route('POST', `${PLATFORM_PAGES}${ACCOUNTS}/new`, {
  ...answering,
  operationId: 'createAccountFromPage',
  summary: 'Open an account and show its keys and password once',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { texts, platform, actor } = operator;
    const { accounts: words } = texts.platform;
    const [name, email] = [context.body.text('name'), context.body.text('email')];
    const done = isEmailAddress(email)
      ? await platform.createAccount({ name, email, password: null }, actor)
      : said(words.badEmail);
    if (isRejection(done)) return shownAgain(context, operator, newPage(name, email), done);
    const secrets = [
      [texts.signIn.email, email],
      [texts.signIn.password, done.password],
      [words.testKey, done.testApiKey],
      [words.liveKey, done.liveApiKey],
    ] as const;
    const place = `${ACCOUNTS}/${ACCOUNT.idPrefix}${done.accountId}`;
    return shownToOperator(
      200,
      context,
      operator,
      secretsPage(words.created, secrets, { section: ACCOUNTS, place }, operator),
    );
  },
});

export const ACCOUNT_LIST_PAGES = [listRoute, newRoute, createRoute];
