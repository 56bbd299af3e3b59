// /dashboard/{mode}/webhooks/redrive: counts the failed deliveries first, then sends them again.
import { type EndpointId, parsePrefixedId } from '../../../../domain/kernel/ids.ts';
import { WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html } from '../../html.ts';
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
  unlessManager,
} from '../page.ts';
import { ofEndpoint } from './list.ts';

const ask = ({ services, tenant, actor }: Reader, endpointId: EndpointId | null, isDryRun: boolean) => {
  const filter = { endpointId, eventType: null, createdFrom: null, createdTo: null };
  return services.askRedrive({ tenant, filter, isDryRun, ...actor });
};

const acting = { ...ofMember, params: modeParam, refusalOf: unlessManager, reads: ['webhookDeliveries'] } as const;

const dryRunRoute = route('GET', '/dashboard/{mode}/webhooks/redrive', {
  ...acting,
  operationId: 'showRedrive',
  summary: 'Count the failed deliveries that would be sent again',
  query: { ...pageQuery, endpoint: ofEndpoint },
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { texts, csrf, to } = reader;
    const { endpoint = null } = context.query;
    const { matched } = await ask(reader, endpoint, true);
    const { webhooks } = texts;
    return shownPage(200, context, reader, {
      title: webhooks.redrive,
      section: '/webhooks',
      main: html`<form method="post" class="card stack" action="${to('/webhooks/redrive')}">${csrf}<input type="hidden" name="endpoint" value="${endpoint === null ? '' : WEBHOOK_ENDPOINT.idPrefix + endpoint}">
<p>${webhooks.failed(matched)}</p>${matched === 0 ? null : html`<p class="muted">${webhooks.redriveLead}</p>`}
<p class="row">${matched === 0 ? null : html`<button>${webhooks.redriveNow}</button>`}<a href="${to('/webhooks')}">${texts.back}</a></p></form>`,
    });
  },
});

const redriveRoute = route('POST', '/dashboard/{mode}/webhooks/redrive', {
  ...acting,
  operationId: 'redriveFromPage',
  summary: 'Send failed deliveries again',
  query: pageQuery,
  body: FORM,
  responses: { 303: REDIRECT },
  handle: async (context) => {
    const reader = readerOf(context);
    const sent = context.body.text('endpoint');
    const endpointId = parsePrefixedId<EndpointId>(sent, WEBHOOK_ENDPOINT.idPrefix);
    // A mistyped endpoint must not resend the deliveries of all endpoints.
    if (sent !== '' && endpointId === null) return redirect(reader.to('/webhooks'));
    const { queued } = await ask(reader, endpointId, false);
    return redirect(reader.to('/webhooks'), queued === 0 ? 'nothingRedriven' : 'redriven');
  },
});

export const REDRIVE_PAGES = [dryRunRoute, redriveRoute];
