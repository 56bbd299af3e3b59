// /dashboard/{mode}/webhooks: endpoints with their health, and the deliveries to them.
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import type { ExistingEndpoint } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { shown } from '../../../api/webhooks/deliveries.ts';
import { matching, wholeNumber } from '../../../kernel/query.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';

const PAGE_SIZE = 25;

export const deliveryBadge = (status: DeliveryStatus, { texts }: Reader): Markup =>
  html`<span class="status ${status.toLowerCase()}">${texts.deliveryStatuses[status]}</span>`;

const endpoints = async ({ tenant, services, texts, language }: Reader): Promise<Markup> => {
  const all = await services.views.endpoints.list(tenant);
  const failures = await services.failingTargets(all.map(({ endpointId }) => endpointId));
  const { webhooks } = texts;
  const health = ({ endpointId, status }: ExistingEndpoint): Markup => {
    const failing = failures.get(endpointId);
    if (status !== 'active') return html`<span class="status">${webhooks.inactive}</span>`;
    return failing === undefined
      ? html`<span class="status paid">${webhooks.healthy}</span>`
      : html`<span class="status failed">${webhooks.failing}</span> <span class="muted small">${failing.lastError} · ${instant(failing.failingSince, language)}</span>`;
  };
  return html`<section class="panel"><h2>${webhooks.endpoints}</h2>${
    all.length === 0
      ? html`<p class="empty">${webhooks.noEndpoints}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="${webhooks.endpoints}"><table><thead><tr><th scope="col">${webhooks.url}</th><th scope="col">${webhooks.events}</th><th scope="col">${webhooks.health}</th></tr></thead>
<tbody>${all.map((one) => html`<tr><th scope="row" class="wide">${one.url}</th><td>${one.events.join(', ')}</td><td>${health(one)}</td></tr>`)}</tbody></table></div>`
  }</section>`;
};

export const webhooksRoute = route('GET', '/dashboard/{mode}/webhooks', {
  ...ofMember,
  operationId: 'showWebhooks',
  summary: 'Show endpoints and deliveries',
  params: modeParam,
  query: {
    ...pageQuery,
    status: matching('Only deliveries in this status.', 'a status', (text) => text),
    offset: wholeNumber('The number of newer deliveries to skip.', 0, 1_000_000_000, 0),
  },
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, to, language } = reader;
    const { webhooks } = texts;
    const { offset } = context.query;
    const status = DELIVERY_STATUSES.find((one) => one === context.query.status);
    const running = await services.deliveriesRunning();
    const filter = { ...(status && { status }), limit: PAGE_SIZE, offset };
    const [{ deliveries, total }, ofEndpoints] = await Promise.all([
      services.views.deliveries.list(tenant, filter, running),
      endpoints(reader),
    ]);
    const rows = await shown(services, tenant, deliveries);
    const at = (from: number): string => `${to('/webhooks')}?offset=${from}${status ? `&status=${status}` : ''}`;
    const option = (one: DeliveryStatus): Markup =>
      one === status
        ? html`<option value="${one}" selected>${texts.deliveryStatuses[one]}</option>`
        : html`<option value="${one}">${texts.deliveryStatuses[one]}</option>`;
    return shownPage(200, context, reader, {
      title: texts.pages.webhooks,
      section: '/webhooks',
      main: html`${ofEndpoints}<section class="panel"><h2>${webhooks.deliveries}</h2>
<form method="get" class="filters"><label>${texts.payments.status}<select name="status"><option value="">${texts.all}</option>${DELIVERY_STATUSES.map(option)}</select></label>
<button class="second">${texts.apply}</button></form>
${
  rows.length === 0
    ? html`<p class="empty">${webhooks.noDeliveries}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${webhooks.deliveries}"><table><thead><tr><th scope="col">${webhooks.event}</th><th scope="col">${texts.payments.status}</th><th scope="col">${webhooks.attempts}</th><th scope="col">${webhooks.lastAnswer}</th><th scope="col">${webhooks.scheduledAt}</th></tr></thead>
<tbody>${rows.map(
        (one) =>
          html`<tr><th scope="row"><a href="${to(`/webhooks/deliveries/${one.id.slice(WEBHOOK_DELIVERY.idPrefix.length)}`)}">${one.eventType}</a></th><td>${deliveryBadge(one.status, reader)}</td><td>${one.attempts}</td><td>${one.lastStatusCode ?? one.lastError ?? texts.none}</td><td>${instant(one.createdAt, language)}</td></tr>`,
      )}</tbody></table></div>`
}
<p class="row pager">${offset > 0 ? html`<a href="${at(0)}">${texts.newest}</a>` : null}${offset + PAGE_SIZE < total ? html`<a href="${at(offset + PAGE_SIZE)}" rel="next">${texts.older}</a>` : null}</p></section>`,
    });
  },
});
