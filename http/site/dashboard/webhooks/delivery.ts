// /dashboard/{mode}/webhooks/deliveries/{id}: the request, the response, and a button for another attempt.
import { type DeliveryId, parseId } from '../../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../../domain/kernel/rejection.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import { shown } from '../../../api/webhooks/deliveries.ts';
import { FORM, pathParam, route } from '../../../kernel/route.ts';
import { html } from '../../html.ts';
import { instant } from '../format.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  pageQuery,
  REDIRECT,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from '../page.ts';
import { tableOf } from '../tables.ts';
import { deliveryBadge } from './table.ts';

const NO_DELIVERY = reject('not_found', 'There is no such delivery.');
const oneDelivery = {
  ...modeParam,
  id: pathParam(
    'The raw id of the delivery, or its `wd_` form.',
    (text) => parseId<DeliveryId>(text, WEBHOOK_DELIVERY.idPrefix) ?? NO_DELIVERY,
  ),
};

const deliveryRoute = route('GET', '/dashboard/{mode}/webhooks/deliveries/{id}', {
  ...ofMember,
  operationId: 'showDelivery',
  summary: 'Show one delivery with its attempts',
  params: oneDelivery,
  query: pageQuery,
  reads: ['webhookDeliveries', 'webhookEndpoints'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, language, csrf, to } = reader;
    const found = await services.views.deliveries.find(
      tenant,
      context.params.id,
      await services.deliveriesRunning(tenant),
    );
    const [view] = found === null ? [] : await shown(services, tenant, [found]);
    if (found === null || view === undefined) return NO_DELIVERY;
    const attempts = (await services.attemptsOf(found.id)).slice(0, view.attempts);
    const { webhooks } = texts;
    return shownPage(200, context, reader, {
      title: view.eventType,
      section: '/webhooks',
      main: html`<p class="under">${deliveryBadge(view.status, reader)} <code>${view.id}</code></p>
${reader.mayManage ? html`<form method="post" action="${to(`/webhooks/deliveries/${found.id}/retry`)}">${csrf}<button class="second">${webhooks.retry}</button></form>` : null}
<section class="panel"><h2>${webhooks.attempts}</h2>${tableOf(
        webhooks.attempts,
        [webhooks.at, webhooks.lastAnswer, webhooks.duration],
        attempts.map(
          (one) =>
            html`<tr><th scope="row">${instant(one.at, language)}</th><td>${one.statusCode ?? one.error ?? webhooks.noAnswer}</td><td>${one.durationMs} ms</td></tr>`,
        ),
      )}
${view.nextRetryAt === null ? null : html`<p class="muted">${webhooks.nextAttempt}: ${instant(view.nextRetryAt, language)}</p>`}</section>
<section class="panel"><h2>${webhooks.request}</h2><pre tabindex="0">${JSON.stringify(view.payload, null, 2)}</pre></section>
${view.lastResponseBody === undefined ? null : html`<section class="panel"><h2>${webhooks.response}</h2><pre tabindex="0">${view.lastResponseBody}</pre></section>`}`,
    });
  },
});

const retryRoute = route('POST', '/dashboard/{mode}/webhooks/deliveries/{id}/retry', {
  ...ofMember,
  operationId: 'retryFromPage',
  summary: 'Attempt a delivery again',
  params: oneDelivery,
  query: pageQuery,
  refusalOf: unlessManager,
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, actor, texts, to } = reader;
    const { id } = context.params;
    const done = await services.retryDelivery(tenant, id, actor);
    if (!isRejection(done)) return redirect(to(`/webhooks/deliveries/${id}`), 'retried');
    if (done.code === 'not_found') return done;
    return shownPage(422, context, reader, {
      ...{ title: texts.webhooks.delivery, section: '/webhooks', problem: done },
      main: html`<p><a href="${to(`/webhooks/deliveries/${id}`)}">${texts.back}</a></p>`,
    });
  },
});

export const DELIVERY_PAGES = [deliveryRoute, retryRoute];
