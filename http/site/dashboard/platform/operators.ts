// /dashboard/platform/operators: the operators of the platform, and a new one.
import { parsePrefixedId, type UserId } from '../../../../domain/kernel/ids.ts';
import { USER } from '../../../../domain/user/user.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html } from '../../html.ts';
import { type Content, PAGE, pageQuery, REDIRECT, textQuery } from '../page.ts';
import { acting, showing, shown } from './acting.ts';
import type { Operator } from './page.ts';
import { pager } from './parts.ts';
import { addedUser, addForm, type TypedUser, usersTable } from './users.ts';

export const OPERATORS = '/operators';
const PAGE_SIZE = 50;

const listPage =
  (after: UserId | null, typed: TypedUser = {}) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, platform, to } = operator;
    const { operators: words, sections } = texts.platform;
    const found = await platform.listOperators({ after, limit: PAGE_SIZE + 1 });
    const listed = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? listed.at(-1) : undefined;
    const path = to(OPERATORS);
    return {
      title: sections.operators,
      section: OPERATORS,
      main: html`<section class="panel"><p class="muted">${words.lead}</p>${usersTable(listed, listed.length, path, operator)}
${pager(path, 'after', after === null, last === undefined ? null : USER.idPrefix + last.userId, operator)}
${addForm(path, false, typed, operator)}</section>`,
    };
  };

const listRoute = route('GET', `${PLATFORM_PAGES}${OPERATORS}`, {
  ...showing,
  operationId: 'showOperators',
  summary: 'Show the operators of the platform',
  query: { ...pageQuery, after: textQuery('The last operator of the page before.') },
  reads: ['users'],
  handle: (context) => shown(context, listPage(parsePrefixedId<UserId>(context.query.after ?? '', USER.idPrefix))),
});

const addRoute = route('POST', `${PLATFORM_PAGES}${OPERATORS}`, {
  ...acting,
  operationId: 'addOperatorFromPage',
  summary: 'Add an operator: by an invitation, or with a password that is shown once',
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: (context) =>
    addedUser(context, {
      ...{ accountId: null, section: OPERATORS, place: OPERATORS },
      page: (typed) => listPage(null, typed),
    }),
});

export const OPERATOR_PAGES = [listRoute, addRoute];
