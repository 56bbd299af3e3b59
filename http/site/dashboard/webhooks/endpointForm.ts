// /dashboard/{mode}/webhooks/endpoints/new: a new endpoint. Its secret is shown once.
import { isRejection, type Rejection, SECRET_MADE_BEFORE } from '../../../../domain/kernel/rejection.ts';
import { EVENT_CATALOGUE } from '../../../../domain/presentation/catalogue.ts';
import type { Form } from '../../../kernel/forms.ts';
import { FORM, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { keyField, keyIn } from '../edit.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage, unlessManager } from '../page.ts';
import { shownOnce } from '../secret.ts';
import { endpointPath } from './list.ts';

export interface EndpointFields {
  readonly url: string;
  readonly events: readonly string[];
}
export const endpointFieldsOf = (form: Form): EndpointFields => ({ url: form.text('url'), events: form.all('events') });

/** Returns the values to compare. The order of events doesn't matter. */
export const comparable = ({ url, events }: EndpointFields) => ({ url, events: events.toSorted().join(' ') });

const URL_LENGTH_MAX = 2048;

/** Returns the problem that the API's schema would report, or null. */
export const fieldsProblem = ({ url, events }: EndpointFields, { texts: { webhooks } }: Reader): string | null => {
  if (url === '' || url.length > URL_LENGTH_MAX) return webhooks.badUrl;
  return events.length === 0 ? webhooks.noEvents : null;
};

const ALL = '*';
/** The inputs of an endpoint. */
export const endpointInputs = ({ url, events }: EndpointFields, { texts: { webhooks } }: Reader): Markup => {
  const box = (event: string, label: Markup | string): Markup =>
    events.includes(event)
      ? html`<label class="box"><input type="checkbox" name="events" value="${event}" checked>${label}</label>`
      : html`<label class="box"><input type="checkbox" name="events" value="${event}">${label}</label>`;
  const boxes = (isLegacy: boolean): readonly Markup[] =>
    EVENT_CATALOGUE.filter(({ legacy = false }) => legacy === isLegacy).map(({ event }) =>
      box(event, html`<code>${event}</code>`),
    );
  return html`<label>${webhooks.url}<input name="url" type="url" value="${url}" maxlength="${URL_LENGTH_MAX}" required><span class="muted small">${webhooks.urlHint}</span></label>
<fieldset><legend>${webhooks.events}</legend>${box(ALL, webhooks.allEvents)}<div class="boxes">${boxes(false)}</div></fieldset>
<details><summary>${webhooks.legacyEvents}</summary><fieldset><legend class="hidden">${webhooks.legacyEvents}</legend><div class="boxes">${boxes(true)}</div></fieldset></details>`;
};

const formPage = (reader: Reader, fields: EndpointFields, key: string | null = null) => {
  const { texts, csrf, to } = reader;
  return {
    title: texts.webhooks.create,
    section: '/webhooks',
    main: html`<form method="post" class="card stack" action="${to('/webhooks/endpoints/new')}">${csrf}${keyField(key)}${endpointInputs(fields, reader)}
<p class="row"><button>${texts.webhooks.createButton}</button><a href="${to('/webhooks')}">${texts.back}</a></p></form>`,
  };
};

const ofForm = { ...ofMember, params: modeParam, query: pageQuery, refusalOf: unlessManager } as const;

export const newEndpointRoute = route('GET', '/dashboard/{mode}/webhooks/endpoints/new', {
  ...ofForm,
  operationId: 'showNewEndpoint',
  summary: 'Show the form of a new endpoint',
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    return shownPage(200, context, reader, formPage(reader, { url: '', events: [ALL] }));
  },
});

export const createEndpointRoute = route('POST', '/dashboard/{mode}/webhooks/endpoints/new', {
  ...ofForm,
  operationId: 'createEndpointFromPage',
  summary: 'Register an endpoint from the form',
  body: FORM,
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, actor, texts, to } = reader;
    const fields = endpointFieldsOf(context.body);
    const key = keyIn(context.body);
    const again = (problem: string | Rejection) =>
      shownPage(422, context, reader, {
        ...formPage(reader, fields, problem === SECRET_MADE_BEFORE ? null : key),
        problem,
      });
    const problem = fieldsProblem(fields, reader);
    if (problem !== null) return again(problem);
    const done = await services.registerWebhookEndpoint(tenant, fields, actor, key);
    if (isRejection(done)) return again(done);
    return shownPage(200, context, reader, {
      title: texts.webhooks.created,
      section: '/webhooks',
      main: html`${shownOnce(done.secret, texts.webhooks.secret, texts.webhooks.secretLead, reader)}
<p><a class="button second" href="${to(endpointPath(done.endpointId))}">${texts.webhooks.toEndpoint}</a></p>`,
    });
  },
});
