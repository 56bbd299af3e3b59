// /dashboard/{mode}/developers/requests: requests by keys and users of the account in the last 30 days, in both modes.

import { shownFingerprint } from '../../../../application/accounts/apiKeys.ts';
import type { LoggedRequest } from '../../../../application/ports/requestLog.ts';
import { PREFIX, parsePrefixedId, type RequestLogId } from '../../../../domain/kernel/ids.ts';
import { statusesOf } from '../../../api/requests/requestLogs.ts';
import { route } from '../../../kernel/route.ts';
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
} from '../page.ts';
import { badge, options } from '../parts.ts';
import { tableOf } from '../tables.ts';

const PAGE_SIZE = 50;
const CLASSES = ['2xx', '4xx', '5xx'];

const query = {
  ...pageQuery,
  status: textQuery('Only requests with this status, or of this class.'),
  key: textQuery('Only requests made with the key of this fingerprint.'),
  after: textQuery('The last request of the page before.'),
  request: textQuery('Only requests with this `X-Request-Id`.'),
  views: textQuery('Whether views of these pages are included: `1`.'),
} as const;
type Asked = { readonly [Name in 'status' | 'key' | 'after' | 'request' | 'views']?: string | undefined };

const FINGERPRINT = /^[0-9a-f]{16}$/;

/** The fingerprints of the account's keys and of the filter in the address, with the labels that the form shows. */
const keyChoices = async (key: string, { services, tenant, texts }: Reader): Promise<ReadonlyMap<string, string>> => {
  const keys = await services.listApiKeys(tenant.accountId);
  return new Map([
    ...(FINGERPRINT.test(key) ? [[key, key] as const] : []),
    ...keys.map(
      ({ fingerprint, prefix, label, mode }) =>
        [shownFingerprint(fingerprint), `${label ?? `${prefix}…`} (${texts.mode[mode]})`] as const,
    ),
  ]);
};

const form = (
  { status = '', key = '', request = '', views }: Asked,
  keys: ReadonlyMap<string, string>,
  { texts }: Reader,
): Markup =>
  html`<form method="get" class="filters"><label>${texts.payments.status}<input name="status" value="${status}" list="statuses" placeholder="4xx" autocomplete="off"></label>
<datalist id="statuses">${CLASSES.map((one) => html`<option value="${one}"></option>`)}</datalist>
<label class="wide">${texts.developers.key}<select name="key"><option value="">${texts.all}</option>${options(keys, key)}</select></label>
<label class="wide">${texts.developers.requestId}<input name="request" value="${request}" autocomplete="off"></label>
<label class="box">${views === '1' ? html`<input type="checkbox" name="views" value="1" checked>` : html`<input type="checkbox" name="views" value="1">`}${texts.developers.views}</label>
<button class="second">${texts.apply}</button></form>`;

export const statusBadge = (status: number): Markup =>
  badge(status, status < 400 ? 'good' : status < 500 ? 'busy' : 'bad');

const table = (rows: readonly LoggedRequest[], keys: ReadonlyMap<string, string>, { texts, language, to }: Reader) => {
  const { developers, payments } = texts;
  if (rows.length === 0) return html`<p class="empty">${developers.noRequests}</p>`;
  const heads = [developers.request, payments.status, developers.by, texts.webhooks.at];
  return tableOf(
    developers.requests,
    [...heads, texts.webhooks.duration, developers.requestId],
    rows.map(
      ({ id, method, path, status, keyFingerprint: key, createdAt, durationMs, requestId }) =>
        html`<tr><th scope="row" class="wide"><a href="${to(`/developers/requests/${PREFIX.requestLog}${id}`)}"><code>${method} ${path}</code></a></th><td>${statusBadge(status)}</td>
<td>${key === null ? texts.actor.user : (keys.get(key) ?? key)}</td><td>${instant(createdAt, language)}</td><td>${durationMs} ms</td>
<td class="wide"><code>${requestId}</code></td></tr>`,
    ),
  );
};

const pager = ({ status, key, after, views }: Asked, last: RequestLogId | undefined, { texts, to }: Reader): Markup => {
  const address = (from: string | undefined): string => {
    const kept = Object.entries({ status, key, views, after: from }).filter((one): one is [string, string] =>
      Boolean(one[1]),
    );
    return `${to('/developers/requests')}?${new URLSearchParams(kept)}`;
  };
  return html`<p class="row pager">${after ? html`<a href="${address(undefined)}">${texts.newest}</a>` : null}
${last === undefined ? null : html`<a href="${address(PREFIX.requestLog + last)}" rel="next">${texts.older}</a>`}</p>`;
};

export const requestsRoute = route('GET', '/dashboard/{mode}/developers/requests', {
  ...ofMember,
  operationId: 'showRequests',
  summary: 'Show the requests of keys and users',
  params: modeParam,
  query,
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, to, tenant, services } = reader;
    const { accountId } = tenant;
    const { status = '', key = '', after, request: asked = '', views } = context.query;
    const keys = await keyChoices(key, reader);
    const page = <Status extends 200 | 422>(code: Status, list: Markup | null, problem?: string) =>
      shownPage(code, context, reader, {
        title: texts.developers.requests,
        section: '/developers',
        main: html`<p class="muted">${texts.developers.requestsLead}</p>${form(context.query, keys, reader)}${list}<p><a href="${to('/developers')}">${texts.back}</a></p>`,
        ...(problem !== undefined && { problem }),
      });
    if (asked !== '') {
      const named = await services.requestsWithId(accountId, asked);
      const [only, ...others] = named;
      if (only !== undefined && others.length === 0)
        return redirect(to(`/developers/requests/${PREFIX.requestLog}${only.id}`));
      return page(200, html`<section class="panel">${table(named, keys, reader)}</section>`);
    }
    const statuses = status === '' ? null : statusesOf(status);
    if (statuses === undefined) return page(422, null, texts.developers.badStatus);
    if (key !== '' && !FINGERPRINT.test(key)) return page(422, null, texts.developers.badKey);
    const cursor = after === undefined ? null : parsePrefixedId<RequestLogId>(after, PREFIX.requestLog);
    const from = cursor === null ? null : await services.requestLog.find(accountId, cursor);
    const filter = { statuses, keyFingerprint: key === '' ? null : key, withoutViews: views !== '1' };
    const found = await services.requestLog.list(accountId, filter, from, PAGE_SIZE + 1);
    const shown = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? shown.at(-1)?.id : undefined;
    return page(
      200,
      html`<section class="panel">${table(shown, keys, reader)}${pager(context.query, last, reader)}</section>`,
    );
  },
});
