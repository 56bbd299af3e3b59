// /dashboard/{mode}/developers/requests/{id}: one request, its response, and the events that it caused.
import type { CausedEvent } from '../../../../application/requests/ownRequests.ts';
import { readStreamName } from '../../../../domain/kernel/aggregate.ts';
import { PREFIX, parsePrefixedId, type RequestLogId } from '../../../../domain/kernel/ids.ts';
import { reject } from '../../../../domain/kernel/rejection.ts';
import { pathParam, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { fact } from '../parts.ts';
import { copied } from '../secret.ts';
import { statusBadge } from './requests.ts';

const NO_REQUEST = reject('not_found', 'There is no such request.');
const oneRequest = {
  ...modeParam,
  id: pathParam(
    'The `log_` id of the request.',
    (text) => parsePrefixedId<RequestLogId>(text, PREFIX.requestLog) ?? NO_REQUEST,
  ),
};

/** The longest search for the events. In a busy log, the search may stop before it has read all candidates. */
const SEARCH_MS = 1_500;

/** The pages of the objects that events are about. */
const PAGES_OF: { readonly [category: string]: string } = {
  payment: 'payments',
  payout: 'payouts',
  medCase: 'disputes',
  webhookDelivery: 'webhooks/deliveries',
};

const subject = ({ stream, mode }: CausedEvent, { texts }: Reader): Markup | null => {
  const { category, id } = readStreamName(stream);
  const page = PAGES_OF[category];
  return page === undefined ? null : html` · <a href="/dashboard/${mode}/${page}/${id}">${texts.developers.show}</a>`;
};

const eventList = (events: readonly CausedEvent[] | null, reader: Reader): Markup => {
  const { texts, language } = reader;
  const { developers } = texts;
  if (events === null) return html`<p class="muted">${developers.eventsUnknown}</p>`;
  if (events.length === 0) return html`<p class="muted">${developers.noEvents}</p>`;
  return html`<ol class="story">${events.map(
    (event) =>
      html`<li><p>${event.words === null ? texts.none : event.words[language]}</p><p class="muted small">${instant(event.at, language)}${subject(event, reader)}</p></li>`,
  )}</ol>`;
};

export const requestRoute = route('GET', '/dashboard/{mode}/developers/requests/{id}', {
  ...ofMember,
  operationId: 'showRequestPage',
  summary: 'Show one request and the events that it caused',
  params: oneRequest,
  query: pageQuery,
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, texts, language, to } = reader;
    const { developers, webhooks } = texts;
    const found = await services.showRequest(tenant.accountId, context.params.id, AbortSignal.timeout(SEARCH_MS));
    if (found === null) return NO_REQUEST;
    const { request, events } = found;
    const { method, path, status, durationMs, createdAt, requestId, mode, keyFingerprint: key } = request;
    return shownPage(200, context, reader, {
      title: developers.request,
      section: '/developers',
      main: html`<p class="under">${statusBadge(status)} <code>${method} ${path}</code></p>
<div class="two"><section class="panel"><h2>${developers.events}</h2>${eventList(events, reader)}</section>
<section class="panel"><h2>${texts.payment.facts}</h2><dl>${fact(developers.requestId, copied(requestId, reader))}
${fact(webhooks.at, instant(createdAt, language))}${fact(webhooks.duration, `${durationMs} ms`)}
${fact(developers.by, key === null ? texts.actor.user : html`<code>${key}</code>`)}${fact(texts.mode.label, mode === null ? null : texts.mode[mode])}</dl>
<p class="muted">${developers.noBodies}</p></section></div><p><a href="${to('/developers/requests')}">${texts.back}</a></p>`,
    });
  },
});
