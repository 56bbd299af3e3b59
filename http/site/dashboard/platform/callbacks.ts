// The callbacks of a connection that wait for an operator, on the connection's page.
import { isCallbackId, type ListedCallback } from '../../../../application/ports/providerCallbacks.ts';
import type { ConnectionId } from '../../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../../domain/kernel/rejection.ts';
import { PROVIDER_CONNECTION } from '../../../../domain/providerConnection/aggregate.ts';
import { connectionParam } from '../../../api/providers/operatorConnections.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { pathParam, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { redirect } from '../page.ts';
import { acting, said, shownAgain } from './acting.ts';
import { type Operator, operatorOf } from './page.ts';
import { isReason, listOf, resolveForm } from './parts.ts';

const LISTED = 20;
const placeOf = (id: ConnectionId): string => `/connections/${PROVIDER_CONNECTION.idPrefix}${id}`;

const row = (callback: ListedCallback, path: string, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { callbacks: words } = texts.platform;
  const { id, receivedAt, times, outcome, findings } = callback;
  return html`<tr><th scope="row">${instant(receivedAt, language)}</th><td>${outcome === null ? texts.none : words.outcomes[outcome]}</td><td>${times}</td>
<td class="wide">${findings.map(({ reference, because }) => html`<code>${reference}</code> <span class="muted small">${because}</span> `)}</td>
<td>${resolveForm(`${path}/callbacks/${id}/resolve`, operator)}</td></tr>`;
};

export const callbacksPanel = async (connectionId: ConnectionId, operator: Operator): Promise<Markup> => {
  const { texts, platform, to } = operator;
  const { callbacks: words } = texts.platform;
  const { callbacks, total } = await platform.listCallbacks({ connectionId, outcome: null }, LISTED);
  const heads = [words.receivedAt, words.outcome, words.times, words.about, words.resolve];
  const rows = callbacks.map((one) => row(one, to(placeOf(connectionId)), operator));
  return html`<section class="panel"><h2>${words.title}</h2><p class="muted">${words.lead}</p>${listOf(words.title, heads, rows, words.empty, total, operator)}</section>`;
};

const callbackParam = pathParam('The number of the callback.', (text) =>
  isCallbackId(text) ? text : reject('not_found', 'There is no such callback.'),
);

const resolveRoute = route('POST', `${PLATFORM_PAGES}/connections/{id}/callbacks/{callback}/resolve`, {
  ...acting,
  operationId: 'resolveCallbackFromPage',
  summary: 'Resolve a callback of a provider connection',
  params: { ...connectionParam, callback: callbackParam },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { platform, actor, texts, to } = operator;
    const { id, callback } = context.params;
    const reason = context.body.text('reason');
    const done = isReason(reason)
      ? await platform.resolveCallback(id, callback, actor.actor, reason)
      : said(texts.platform.badReason);
    if (!isRejection(done)) return redirect(to(placeOf(id)), 'callbackResolved');
    const page = async () => ({
      title: texts.platform.callbacks.title,
      section: '/connections',
      main: html`<p><a href="${to(placeOf(id))}">${texts.back}</a></p>`,
    });
    return shownAgain(context, operator, page, done);
  },
});

export const CALLBACK_PAGES = [resolveRoute];
