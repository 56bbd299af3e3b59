// /dashboard/platform/connections/{id}: one connection: its state, its checks, its settings and secrets, and the waiting callbacks.

import { OPEN_WORK_READS } from '../../../../application/ports/readModels/providers.ts';
import type { ConnectionId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../../../domain/kernel/time.ts';
import type { ConnectionView } from '../../../../domain/presentation/connection.ts';
import { PROVIDER_CONNECTION } from '../../../../domain/providerConnection/aggregate.ts';
import { connectionParam } from '../../../api/providers/operatorConnections.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { seenField, seenIn, shownValues } from '../edit.ts';
import { instant } from '../format.ts';
import type { Content } from '../page.ts';
import { badge, fact } from '../parts.ts';
import { confirmed } from '../secret.ts';
import { acted, acting, answering, said, showing, shown, shownAgain } from './acting.ts';
import { callbacksPanel } from './callbacks.ts';
import {
  type ConnectionFields,
  changeOf,
  connectionInputs,
  editedOf,
  fieldsOf,
  secretInput,
} from './connectionForms.ts';
import { CONNECTIONS, callbackUrlPage, circuitBadge, connectionBadge, ownerOf } from './connections.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { simpleForm } from './parts.ts';
import { reconciliationPanel } from './reconciliation.ts';

const facts = (view: ConnectionView, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { connections: words } = texts.platform;
  const { certificate } = view;
  return html`<section class="panel"><h2>${texts.payment.facts}</h2><dl>
${fact(texts.payments.status, connectionBadge(view, operator))}${fact(words.circuit, circuitBadge(view, operator))}
${fact(words.openPayments, String(view.openPayments))}${fact(words.openPayouts, String(view.openPayouts))}
${fact(words.fields.accountId, ownerOf(view, operator))}${fact(words.methods, view.methods.map((one) => texts.methods[one]).join(', '))}
${fact(words.fields.order, String(view.order))}${fact(words.fields.preset, view.preset)}
${fact(words.fields.baseUrl, view.baseUrl)}${fact(words.fields.tokenUrl, view.tokenUrl)}
${fact(words.fields.clientId, view.clientId)}${fact(words.fields.pixKey, view.pixKey)}
${fact(words.certificate, certificate === null ? texts.none : html`${instant(certificate.expiresAt, language)} <span class="muted small">${words.daysLeft(certificate.daysLeft)}</span>`)}
${fact(words.fields.ca, view.hasCa ? texts.yes : texts.no)}
${fact(words.fields.requireClientCertificate, view.requireClientCertificate ? texts.yes : texts.no)}
${fact(words.fields.allowPrivate, view.allowPrivate ? texts.yes : texts.no)}
${fact(words.previousCallback, view.previousCallbackUntil === null ? null : instant(view.previousCallbackUntil, language))}
${fact(words.addedAt, instant(view.addedAt, language))}</dl></section>`;
};

const SWITCHES = [
  ['enable', 'enabled'],
  ['drain', 'draining'],
  ['disable', 'disabled'],
] as const;
type Verb = (typeof SWITCHES)[number][0];

const actions = (view: ConnectionView, operator: Operator): Markup => {
  const { texts, to, csrf } = operator;
  const { connections: words } = texts.platform;
  const path = to(`${CONNECTIONS}/${view.id}`);
  const look = { enable: '', drain: 'second', disable: 'danger' } as const;
  const switches = SWITCHES.filter(([, status]) => status !== view.status).map(([verb]) =>
    simpleForm(
      `${path}/${verb}`,
      words.switchLeads[verb],
      html`<button class="${look[verb]}">${words.switches[verb]}</button>`,
      operator,
    ),
  );
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>
${simpleForm(`${path}/check`, words.checkLead, html`<button>${words.check}</button>`, operator)}
${simpleForm(
  `${path}/webhook`,
  words.webhookLead,
  html`<p class="row"><button class="second" name="as" value="show">${words.showWebhook}</button>
<button class="second" name="as" value="register">${words.registerWebhook}</button></p>`,
  operator,
)}
${switches}<details><summary>${words.rotateSecret}</summary><form method="post" action="${path}/client-secret" class="action">${csrf}
<p class="muted">${words.rotateSecretLead}</p>${secretInput(operator)}<button>${words.rotateSecret}</button></form></details>
${confirmed(words.rotateCallback, words.rotateCallbackLead, `${path}/callback-url`, operator, seenField(view.changedAt))}
${confirmed(words.remove, words.removeLead, `${path}/remove`, operator)}</section>`;
};

const changeForm = (view: ConnectionView, edited: ConnectionFields | null, operator: Operator): Markup => {
  const { texts, to, csrf } = operator;
  const { connections: words } = texts.platform;
  const present = fieldsOf(view);
  const form = html`<form method="post" action="${to(`${CONNECTIONS}/${view.id}`)}" class="stack narrow">
${csrf}${shownValues(present)}${connectionInputs({ ...present, ...edited }, false, operator)}<p><button>${texts.save}</button></p></form>`;
  return html`<section class="panel"><h2>${words.change}</h2>${edited === null ? html`<details><summary>${words.change}</summary>${form}</details>` : form}</section>`;
};

/** `edited`: the rejected change. */
const onePage =
  (id: ConnectionId, edited: ConnectionFields | null = null) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const view = await platform.showConnection(id);
    if (isRejection(view)) return view;
    return {
      title: view.name,
      section: CONNECTIONS,
      main: html`<p class="under"><code>${view.id}</code></p><div class="two"><div>${facts(view, operator)}${changeForm(view, edited, operator)}</div><div>${actions(view, operator)}${reconciliationPanel(view, operator)}</div></div>
${await callbacksPanel(id, operator)}<p><a href="${to(CONNECTIONS)}">${texts.back}</a></p>`,
    };
  };

const AT = `${PLATFORM_PAGES}${CONNECTIONS}/{id}`;
const one = { params: connectionParam } as const;
const placeOf = (id: ConnectionId): string => `${CONNECTIONS}/${PROVIDER_CONNECTION.idPrefix}${id}`;

const oneRoute = route('GET', AT, {
  ...showing,
  ...one,
  operationId: 'showConnection',
  summary: 'Show a provider connection, and what can be done with it',
  reads: OPEN_WORK_READS,
  handle: (context) => shown(context, onePage(context.params.id)),
});

const changeRoute = route('POST', AT, {
  ...acting,
  ...one,
  operationId: 'changeConnectionFromPage',
  summary: 'Change a provider connection',
  handle: async (context) => {
    const { id } = context.params;
    const view = await context.services.platform.showConnection(id);
    if (isRejection(view)) return view;
    const { edited, contested } = editedOf(context.body, view);
    const act = async ({ platform, actor, texts }: Operator): Promise<unknown> => {
      const { fields } = texts.platform.connections;
      if (contested.length > 0) return said(texts.settings.contested(contested.map((name) => fields[name]).join(', ')));
      const change = changeOf(edited);
      if ('misread' in change) return said(texts.settings.badValue(fields[change.misread]));
      return platform.changeProviderConnection(id, change, actor);
    };
    return acted(context, { act, done: 'connectionChanged', place: placeOf(id), page: onePage(id, edited) });
  },
});

const switchRoute = (verb: Verb, to: (typeof SWITCHES)[number][1], summary: string) =>
  route('POST', `${AT}/${verb}`, {
    ...acting,
    ...one,
    operationId: `${verb}ConnectionFromPage`,
    summary,
    handle: (context) => {
      const { id } = context.params;
      const act = ({ platform, actor }: Operator) => platform.switchProviderConnection(id, to, actor);
      return acted(context, { act, done: 'connectionChanged', place: placeOf(id), page: onePage(id) });
    },
  });

const removeRoute = route('POST', `${AT}/remove`, {
  ...acting,
  ...one,
  operationId: 'removeConnectionFromPage',
  summary: 'Remove a provider connection',
  handle: (context) => {
    const { id } = context.params;
    const act = ({ platform, actor }: Operator) => context.apart(platform.removeProviderConnection(id, actor));
    return acted(context, { act, done: 'connectionRemoved', place: CONNECTIONS, page: onePage(id) });
  },
});

const secretRoute = route('POST', `${AT}/client-secret`, {
  ...acting,
  ...one,
  operationId: 'rotateClientSecretFromPage',
  summary: 'Replace the client secret of a provider connection',
  handle: (context) => {
    const { id } = context.params;
    const secret = context.body.text('clientSecret');
    const act = ({ platform, actor }: Operator) => platform.rotateProviderClientSecret(id, secret, actor);
    return acted(context, { act, done: 'connectionChanged', place: placeOf(id), page: onePage(id) });
  },
});

const callbackUrlRoute = route('POST', `${AT}/callback-url`, {
  ...answering,
  ...one,
  operationId: 'rotateCallbackUrlFromPage',
  summary: 'Replace the callback URL of a provider connection and show it once',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { id } = context.params;
    const done = await operator.platform.rotateProviderCallbackSecret(
      id,
      operator.actor,
      seenIn(context.body) as Timestamp | null,
    );
    if (isRejection(done)) return shownAgain(context, operator, onePage(id), done);
    const lead = operator.texts.platform.connections.rotatedLead;
    const shownId = PROVIDER_CONNECTION.idPrefix + id;
    return shownToOperator(200, context, operator, callbackUrlPage(shownId, done.callbackUrl, lead, operator));
  },
});

/** A page that shows an institution's answer. */
const answerPage = (id: ConnectionId, title: string, answer: Markup, { texts, to }: Operator): Content => ({
  title,
  section: CONNECTIONS,
  main: html`<section class="panel">${answer}</section><p><a class="button second" href="${to(placeOf(id))}">${texts.platform.connections.toConnection}</a></p>`,
});

const checkRoute = route('POST', `${AT}/check`, {
  ...answering,
  ...one,
  operationId: 'checkConnectionFromPage',
  summary: 'Check a provider connection and show the steps',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { id } = context.params;
    const steps = await context.apart(operator.platform.checkProviderConnection(id));
    if (isRejection(steps)) return shownAgain(context, operator, onePage(id), steps);
    const { connections: words } = operator.texts.platform;
    const isGood = steps.every(({ isOk }) => isOk);
    const list = html`<p class="notice ${isGood ? 'good' : 'bad'}" role="status">${isGood ? words.checkGood : words.checkBad}</p><ol class="story">${steps.map(
      ({ name, isOk, detail }) =>
        html`<li><p>${isOk ? badge(words.stepGood, 'good') : badge(words.stepBad, 'bad')} ${name}</p><p class="muted">${detail}</p></li>`,
    )}</ol>`;
    return shownToOperator(200, context, operator, answerPage(id, words.check, list, operator));
  },
});

const webhookRoute = route('POST', `${AT}/webhook`, {
  ...answering,
  ...one,
  operationId: 'askConnectionWebhookFromPage',
  summary: 'Show or register the callback URL at the institution',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { platform, texts } = operator;
    const { id } = context.params;
    const isNew = context.body.text('as') === 'register';
    const asked = isNew ? platform.registerProviderWebhook(id) : platform.showProviderWebhook(id);
    const done = await context.apart(asked);
    if (isRejection(done)) return shownAgain(context, operator, onePage(id), done);
    const { connections: words } = texts.platform;
    const answer =
      done.url === null
        ? html`<p class="notice bad" role="status">${words.noWebhook}</p>`
        : html`<p class="notice ${done.isCurrent ? 'good' : 'bad'}" role="status">${done.isCurrent ? words.webhookCurrent : words.webhookOther}</p><p><code>${done.url}</code></p>`;
    return shownToOperator(200, context, operator, answerPage(id, words.webhook, answer, operator));
  },
});

export const CONNECTION_PAGES = [
  oneRoute,
  changeRoute,
  switchRoute('enable', 'enabled', 'Enable a provider connection'),
  switchRoute('drain', 'draining', 'Drain a provider connection'),
  switchRoute('disable', 'disabled', 'Disable a provider connection'),
  removeRoute,
  secretRoute,
  callbackUrlRoute,
  checkRoute,
  webhookRoute,
];
