// /dashboard/platform/security: operators' requests of the last 30 days (changes, or all), and the newest security events.
import type { LoggedRequest } from '../../../../application/ports/requestLog.ts';
import { PREFIX, parsePrefixedId, type RequestLogId, type UserId } from '../../../../domain/kernel/ids.ts';
import { USER } from '../../../../domain/user/user.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { statusBadge } from '../developers/requests.ts';
import { instant } from '../format.ts';
import { pageQuery, textQuery } from '../page.ts';
import { tableOf } from '../tables.ts';
import { showing, shown } from './acting.ts';
import type { Operator } from './page.ts';

const SECTION = '/security';
const PAGE_SIZE = 40;
/** The maximum number of events, so that the page stays below 60 kB. */
const EVENTS = 40;

/** Returns the names of the users who made the requests. */
const namesOf = async (requests: readonly LoggedRequest[], { platform }: Operator) => {
  const ids = [...new Set(requests.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
  const users = await Promise.all(ids.map(async (id) => [id, (await platform.findUser(id))?.name ?? id] as const));
  return new Map<UserId, string>(users);
};

const row = (request: LoggedRequest, names: ReadonlyMap<UserId, string>, { language, to, texts }: Operator): Markup => {
  const { method, path, status, userId, createdAt, requestId } = request;
  const by =
    userId === null
      ? null
      : html`<a href="${to(`/users/${USER.idPrefix}${userId}`)}">${names.get(userId) ?? userId}</a>`;
  return html`<tr><th scope="row" class="wide"><code>${method} ${path}</code></th><td>${statusBadge(status)}</td>
<td class="wide">${by ?? texts.none}</td><td>${instant(createdAt, language)}</td><td class="wide"><code>${requestId}</code></td></tr>`;
};

/** The newest events of this process, on the first page only. */
const eventsPanel = ({ texts, language, services }: Operator): Markup => {
  const { security: words } = texts.platform;
  const lines = services.operations.securityLines().slice(0, EVENTS);
  const rows = lines.map(
    ({ at, security, text, details }) =>
      html`<tr><th scope="row" class="wide">${words.events[security] ?? text}</th><td>${instant(at, language)}</td>
<td class="wide">${Object.entries(details).map(([name, value]) => html`<span class="muted small">${name}</span> <code>${typeof value === 'string' ? value : JSON.stringify(value)}</code><br>`)}</td></tr>`,
  );
  return html`<section class="panel"><h2>${words.eventsTitle}</h2><p class="muted">${words.eventsLead}</p>${
    rows.length === 0
      ? html`<p class="empty">${words.noEvents}</p>`
      : tableOf(words.eventsTitle, [words.event, texts.webhooks.at, words.details], rows)
  }</section>`;
};

const securityRoute = route('GET', `${PLATFORM_PAGES}${SECTION}`, {
  ...showing,
  operationId: 'showSecurityLog',
  summary: 'Show what operators asked for',
  query: {
    ...pageQuery,
    all: textQuery('Whether requests that change nothing are included: `1`.'),
    after: textQuery('The last request of the page before.'),
  },
  handle: (context) =>
    shown(context, async (operator) => {
      const { texts, services, to } = operator;
      const { security: words, sections } = texts.platform;
      const all = context.query.all === '1';
      const sent = parsePrefixedId<RequestLogId>(context.query.after ?? '', PREFIX.requestLog);
      const after = sent === null ? null : await services.requestLog.find(null, sent);
      const filter = { statuses: null, keyFingerprint: null, onlyChanges: !all };
      const found = await services.requestLog.list(null, filter, after, PAGE_SIZE + 1);
      const listed = found.slice(0, PAGE_SIZE);
      const names = await namesOf(listed, operator);
      const rows = listed.map((one) => row(one, names, operator));
      const last = found.length > PAGE_SIZE ? listed.at(-1) : undefined;
      const heads = [texts.developers.request, texts.payments.status, words.operator, texts.webhooks.at];
      const own = to(SECTION);
      const kept = all ? 'all=1&' : '';
      return {
        title: sections.security,
        section: SECTION,
        main: html`<section class="panel"><h2>${words.requests}</h2><p class="muted">${words.lead}</p>${
          rows.length === 0
            ? html`<p class="empty">${words.empty}</p>`
            : tableOf(sections.security, [...heads, texts.developers.requestId], rows)
        }<p class="row pager">${all ? html`<a href="${own}">${words.onlyChanges}</a>` : html`<a href="${own}?all=1">${words.everything}</a>`}
${after === null ? null : html`<a href="${own}?${kept}">${texts.newest}</a>`}
${last === undefined ? null : html`<a href="${own}?${kept}after=${PREFIX.requestLog}${last.id}" rel="next">${texts.older}</a>`}</p></section>${after === null ? eventsPanel(operator) : null}`,
      };
    }),
});

export const SECURITY_PAGES = [securityRoute];
