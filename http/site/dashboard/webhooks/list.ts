// /dashboard/{mode}/webhooks: endpoints with their health, and the deliveries to them.
import { type EndpointId, parsePrefixedId } from '../../../../domain/kernel/ids.ts';
import { DELIVERY_STATUSES } from '../../../../domain/presentation/delivery.ts';
import { type ExistingEndpoint, WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { shown } from '../../../api/webhooks/deliveries.ts';
import { matching, wholeNumber } from '../../../kernel/query.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { statusOptions } from '../parts.ts';
import { tableOf } from '../tables.ts';
import { healthBadge } from './health.ts';
import { deliveriesTable } from './table.ts';

const PAGE_SIZE = 25;

/** The path of an endpoint's page. */
export const endpointPath = (id: EndpointId): string => `/webhooks/endpoints/${WEBHOOK_ENDPOINT.idPrefix}${id}`;

/** The endpoint that a list is restricted to. */
export const ofEndpoint = matching(
  'Only deliveries to this endpoint.',
  'a we_ id',
  (text) => parsePrefixedId<EndpointId>(text, WEBHOOK_ENDPOINT.idPrefix) ?? undefined,
);

const endpoints = async (reader: Reader): Promise<Markup> => {
  const { tenant, services, texts, to } = reader;
  const all = await services.views.endpoints.list(tenant);
  const failures = await services.failingTargets(all.map(({ endpointId }) => endpointId));
  const { webhooks } = texts;
  const row = (one: ExistingEndpoint): Markup =>
    html`<tr><th scope="row" class="wide"><a href="${to(endpointPath(one.endpointId))}">${one.url}</a></th>
<td class="wide">${one.events.join(', ')}</td><td>${healthBadge(one, failures.get(one.endpointId), reader)}</td></tr>`;
  return html`${reader.mayManage ? html`<p class="row end"><a class="button" href="${to('/webhooks/endpoints/new')}">${webhooks.create}</a></p>` : null}
<section class="panel"><h2>${webhooks.endpoints}</h2>${
    all.length === 0
      ? html`<p class="empty">${webhooks.noEndpoints}</p>`
      : tableOf(webhooks.endpoints, [webhooks.url, webhooks.events, webhooks.health], all.map(row))
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
    endpoint: ofEndpoint,
    offset: wholeNumber('The number of newer deliveries to skip.', 0, 1_000_000_000, 0),
  },
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, to } = reader;
    const { webhooks } = texts;
    const { offset, endpoint } = context.query;
    const status = DELIVERY_STATUSES.find((one) => one === context.query.status);
    const running = await services.deliveriesRunning(tenant);
    const filter = { ...(status && { status }), ...(endpoint && { endpointId: endpoint }), limit: PAGE_SIZE, offset };
    const [{ deliveries, total }, ofEndpoints] = await Promise.all([
      services.views.deliveries.list(tenant, filter, running),
      endpoints(reader),
    ]);
    const rows = await shown(services, tenant, deliveries);
    const kept = endpoint === undefined ? '' : `&endpoint=${WEBHOOK_ENDPOINT.idPrefix}${endpoint}`;
    const at = (from: number): string => `${to('/webhooks')}?offset=${from}${status ? `&status=${status}` : ''}${kept}`;
    const redrive = reader.mayManage
      ? html`<a class="button second" href="${to(`/webhooks/redrive?${kept.slice(1)}`)}">${webhooks.redrive}</a>`
      : null;
    return shownPage(200, context, reader, {
      title: texts.pages.webhooks,
      section: '/webhooks',
      main: html`${ofEndpoints}<section class="panel"><h2>${webhooks.deliveries}</h2>
<form method="get" class="filters">${endpoint === undefined ? null : html`<input type="hidden" name="endpoint" value="${WEBHOOK_ENDPOINT.idPrefix}${endpoint}">`}
<label>${texts.payments.status}<select name="status">${statusOptions(DELIVERY_STATUSES, status, texts.deliveryStatuses, reader)}</select></label>
<button class="second">${texts.apply}</button>${redrive}</form>
${deliveriesTable(rows, reader)}
<p class="row pager">${offset > 0 ? html`<a href="${at(0)}">${texts.newest}</a>` : null}${offset + PAGE_SIZE < total ? html`<a href="${at(offset + PAGE_SIZE)}" rel="next">${texts.older}</a>` : null}</p></section>`,
    });
  },
});
