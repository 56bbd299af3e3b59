// /dashboard/{mode}/webhooks/endpoints/{id}: one endpoint, its deliveries, and its possible actions.
import type { EndpointId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../../../domain/kernel/rejection.ts';
import { ENDPOINT_STATE } from '../../../../domain/presentation/endpoint.ts';
import { type ExistingEndpoint, WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { shown } from '../../../api/webhooks/deliveries.ts';
import { endpointParam } from '../../../api/webhooks/endpoints.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { editOf, seenField, seenIn, shownValues } from '../edit.ts';
import { instant } from '../format.ts';
import { notice } from '../layout.ts';
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
import { confirmed, shownOnce } from '../secret.ts';
import type { DoneAction } from '../texts/texts.ts';
import { comparable, type EndpointFields, endpointFieldsOf, endpointInputs, fieldsProblem } from './endpointForm.ts';
import { healthBadge } from './health.ts';
import { endpointPath } from './list.ts';
import { deliveriesTable } from './table.ts';

const RECENT = 10;
const oneEndpoint = { ...modeParam, ...endpointParam };
const NO_ENDPOINT = reject('not_found', 'There is no such webhook endpoint.');

const find = async ({ services, tenant }: Reader, id: EndpointId): Promise<ExistingEndpoint | null> =>
  (await services.views.endpoints.list(tenant)).find(({ endpointId }) => endpointId === id) ?? null;

const actions = (endpoint: ExistingEndpoint, fields: EndpointFields, reader: Reader): Markup => {
  const { texts, csrf, to, caller } = reader;
  const { webhooks, payment } = texts;
  if (unlessManager(caller) !== null)
    return html`<section class="panel"><h2>${payment.actions}</h2><p class="muted">${payment.mayNot}</p></section>`;
  const at = to(endpointPath(endpoint.endpointId));
  const isActive = endpoint.status === 'active';
  return html`<section class="panel"><h2>${webhooks.change}</h2><form method="post" class="stack" action="${at}">
${csrf}${shownValues(comparable(endpoint))}${endpointInputs(fields, reader)}<p><button>${texts.save}</button></p></form></section>
<section class="panel actions"><h2>${payment.actions}</h2>
<form method="post" action="${at}/ping" class="action narrow">${csrf}<p class="muted">${webhooks.pingLead}</p><button class="second">${webhooks.ping}</button></form>
<form method="post" action="${at}/status" class="action narrow">${csrf}<p class="muted">${isActive ? webhooks.pauseLead : webhooks.resumeLead}</p>
<button class="second" name="status" value="${isActive ? 'INACTIVE' : 'ACTIVE'}">${isActive ? webhooks.pause : webhooks.resume}</button></form>
${confirmed(webhooks.rotate, webhooks.rotateLead, `${at}/rotate-secret`, reader, seenField(String(endpoint.secretVersion)))}
${confirmed(webhooks.remove, webhooks.removeLead, `${at}/delete`, reader)}</section>`;
};

interface Extra {
  /** The submitted values; default: the endpoint's values. */
  readonly fields?: EndpointFields;
  readonly above?: Markup | null;
  readonly problem?: string | Rejection;
}

/** Returns the content of the endpoint's page. */
const contentOf = async (endpoint: ExistingEndpoint, reader: Reader, { fields, above = null, problem }: Extra) => {
  const { tenant, services, texts, to, language } = reader;
  const { endpointId } = endpoint;
  const running = await services.deliveriesRunning(tenant);
  const [{ deliveries }, failures] = await Promise.all([
    services.views.deliveries.list(tenant, { endpointId, limit: RECENT, offset: 0 }, running),
    services.failingTargets([endpointId]),
  ]);
  const id = WEBHOOK_ENDPOINT.idPrefix + endpointId;
  const rows = await shown(services, tenant, deliveries);
  return {
    title: texts.webhooks.endpoint,
    section: '/webhooks',
    ...(problem !== undefined && { problem }),
    main: html`${above}<p class="under">${healthBadge(endpoint, failures.get(endpointId), reader)} <code>${endpoint.url}</code></p>
<p class="muted small"><code>${id}</code> · ${texts.payments.createdAt} ${instant(endpoint.createdAt, language)}</p>
<section class="panel"><h2>${texts.webhooks.deliveries}</h2>${deliveriesTable(rows, reader)}
<p class="row"><a href="${to(`/webhooks?endpoint=${id}`)}">${texts.overview.seeAll}</a></p></section>${actions(endpoint, fields ?? endpoint, reader)}`,
  };
};

const reads = ['webhookDeliveries', 'webhookEndpoints'] as const;
const ofEndpoint = { ...ofMember, params: oneEndpoint, query: pageQuery, reads } as const;

const endpointRoute = route('GET', '/dashboard/{mode}/webhooks/endpoints/{id}', {
  ...ofEndpoint,
  operationId: 'showEndpoint',
  summary: 'Show one endpoint with its deliveries',
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const endpoint = await find(reader, context.params.id);
    if (endpoint === null) return NO_ENDPOINT;
    return shownPage(200, context, reader, await contentOf(endpoint, reader, {}));
  },
});

const acting = { ...ofEndpoint, refusalOf: unlessManager, body: FORM } as const;
type Acting = RouteContext<'member', typeof oneEndpoint, typeof pageQuery, typeof FORM>;

/** Performs the action and redirects to a page. A rejection is shown on the endpoint's page. */
const acted = async (
  context: Acting,
  act: (reader: Reader, id: EndpointId) => Promise<Rejection | null>,
  done: DoneAction,
) => {
  const reader = readerOf(context);
  const { id } = context.params;
  const endpoint = await find(reader, id);
  if (endpoint === null) return NO_ENDPOINT;
  const refused = await act(reader, id);
  if (refused === null) return redirect(reader.to(done === 'endpointDeleted' ? '/webhooks' : endpointPath(id)), done);
  if (refused.code === 'not_found') return refused;
  return shownPage(422, context, reader, await contentOf(endpoint, reader, { problem: refused }));
};

const LEADS = { 303: REDIRECT, 422: PAGE } as const;

const changeRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/{id}', {
  ...acting,
  operationId: 'changeEndpointFromPage',
  summary: 'Change the URL and events of an endpoint',
  responses: LEADS,
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, texts } = reader;
    const { id } = context.params;
    const endpoint = await find(reader, id);
    if (endpoint === null) return NO_ENDPOINT;
    const fields = endpointFieldsOf(context.body);
    const { edited, contested } = editOf(context.body, comparable(fields), comparable(endpoint));
    const url = edited.url ?? null;
    const events = edited.events === undefined ? null : fields.events;
    const again = async (problem: string | Rejection) => {
      const shown = { url: url ?? endpoint.url, events: events ?? endpoint.events };
      return shownPage(422, context, reader, await contentOf(endpoint, reader, { fields: shown, problem }));
    };
    const words = { url: texts.webhooks.url, events: texts.webhooks.events };
    if (contested.length > 0) return again(texts.settings.contested(contested.map((name) => words[name]).join(', ')));
    const problem = fieldsProblem(fields, reader);
    if (problem !== null) return again(problem);
    const isChanged = url !== null || events !== null;
    const wish = { url, events, status: null };
    const done = isChanged ? await services.changeWebhookEndpoint(tenant, id, wish, actor) : endpoint;
    if (!isRejection(done)) return redirect(reader.to(endpointPath(id)), 'endpointChanged');
    return done.code === 'not_found' ? done : again(done);
  },
});

const statusRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/{id}/status', {
  ...acting,
  operationId: 'pauseEndpointFromPage',
  summary: 'Pause or resume an endpoint',
  responses: LEADS,
  handle: (context) => {
    const status = context.body.text('status') === 'ACTIVE' ? 'ACTIVE' : 'INACTIVE';
    const change = async ({ services, tenant, actor }: Reader, id: EndpointId) => {
      const wish = { url: null, events: null, status: ENDPOINT_STATE[status] };
      const done = await services.changeWebhookEndpoint(tenant, id, wish, actor);
      return isRejection(done) ? done : null;
    };
    return acted(context, change, status === 'ACTIVE' ? 'endpointResumed' : 'endpointPaused');
  },
});

const deleteRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/{id}/delete', {
  ...acting,
  operationId: 'deleteEndpointFromPage',
  summary: 'Delete an endpoint',
  responses: LEADS,
  handle: (context) =>
    acted(
      context,
      ({ services, tenant, actor }, id) => services.deleteWebhookEndpoint(tenant, id, actor),
      'endpointDeleted',
    ),
});

const pingRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/{id}/ping', {
  ...acting,
  operationId: 'pingEndpointFromPage',
  summary: 'Ping an endpoint and show the result',
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, texts } = reader;
    const outcome = await services.pingEndpoint(tenant, context.params.id);
    if (isRejection(outcome)) return outcome;
    const endpoint = await find(reader, context.params.id);
    if (endpoint === null) return NO_ENDPOINT;
    const { ok, statusCode, error, durationMs } = outcome;
    const result = String(error ?? statusCode ?? texts.webhooks.noAnswer);
    const above = notice(texts.webhooks[ok ? 'pingReceived' : 'pingFailed'](result, durationMs), !ok);
    return shownPage(200, context, reader, await contentOf(endpoint, reader, { above }));
  },
});

const rotateRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/{id}/rotate-secret', {
  ...acting,
  operationId: 'rotateSecretFromPage',
  summary: 'Rotate the secret of an endpoint and show the new one',
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, tenant, actor, texts } = reader;
    const { id } = context.params;
    const seen = seenIn(context.body);
    const secret = await services.rotateWebhookSecret(tenant, id, actor, seen === null ? null : Number(seen));
    const endpoint = await find(reader, id);
    if (endpoint === null) return NO_ENDPOINT;
    if (isRejection(secret))
      return shownPage(422, context, reader, await contentOf(endpoint, reader, { problem: secret }));
    const above = shownOnce(secret, texts.webhooks.secret, texts.webhooks.secretLead, reader);
    // The read model may not have the new version yet.
    const rotated = seen === null ? endpoint : { ...endpoint, secretVersion: Number(seen) + 1 };
    return shownPage(200, context, reader, await contentOf(rotated, reader, { above }));
  },
});

export const ENDPOINT_PAGES = [endpointRoute, changeRoute, statusRoute, deleteRoute, pingRoute, rotateRoute];
