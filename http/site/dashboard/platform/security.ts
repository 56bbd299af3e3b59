// /dashboard/platform/security: what operators asked for in the last 30 days, and the security events that this process has logged.
import type { LoggedRequest, RequestLogReads } from '../../../../application/ports/requestLog.ts';
import { PREFIX, parsePrefixedId, type RequestLogId } from '../../../../domain/kernel/ids.ts';
import { USER } from '../../../../domain/user/user.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { pageQuery, textQuery } from '../page.ts';
import { tableOf } from '../tables.ts';
import { showing, shown } from './acting.ts';
import type { Operator } from './page.ts';

const SECTION = '/security';
const PAGE_SIZE = 50;
const ALL: Parameters<RequestLogReads['list']>[1] = { statuses: null, keyFingerprint: null };

const row = ({ method, path, status, userId, createdAt, requestId }: LoggedRequest, operator: Operator): Markup => {
  const { language, to } = operator;
  const look = status < 400 ? 'paid' : status < 500 ? 'pending' : 'failed';
  const id = USER.idPrefix + (userId ?? '');
  return html`<tr><th scope="row" class="wide"><code>${method} ${path}</code></th><td><span class="status ${look}">${status}</span></td>
<td><a href="${to(`/users/${id}`)}"><code>${id}</code></a></td><td>${instant(createdAt, language)}</td><td class="wide"><code>${requestId}</code></td></tr>`;
};

const securityRoute = route('GET', `${PLATFORM_PAGES}${SECTION}`, {
  ...showing,
  operationId: 'showSecurityLog',
  summary: 'Show what operators asked for',
  query: { ...pageQuery, after: textQuery('The last request of the page before.') },
  handle: (context) =>
    shown(context, async (operator) => {
      const { texts, services, to } = operator;
      const { security: words, sections } = texts.platform;
      const sent = parsePrefixedId<RequestLogId>(context.query.after ?? '', PREFIX.requestLog);
      const after = sent === null ? null : await services.requestLog.find(null, sent);
      const found = await services.requestLog.list(null, ALL, after, PAGE_SIZE + 1);
      const rows = found.slice(0, PAGE_SIZE);
      const last = found.length > PAGE_SIZE ? rows.at(-1) : undefined;
      const heads = [texts.developers.request, texts.payments.status, words.operator, texts.webhooks.at];
      return {
        title: sections.security,
        section: SECTION,
        main: html`<section class="panel"><h2>${words.requests}</h2><p class="muted">${words.lead}</p>${
          rows.length === 0
            ? html`<p class="empty">${words.empty}</p>`
            : tableOf(
                words.requests,
                [...heads, texts.developers.requestId],
                rows.map((one) => row(one, operator)),
              )
        }<p class="row pager">${after === null ? null : html`<a href="${to(SECTION)}">${texts.newest}</a>`}
${last === undefined ? null : html`<a href="${to(SECTION)}?after=${PREFIX.requestLog}${last.id}" rel="next">${texts.older}</a>`}</p></section>`,
      };
    }),
});

export const SECURITY_PAGES = [securityRoute];
