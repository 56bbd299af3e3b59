// /dashboard/platform/connections: the connections to institutions, and a new one.

import { OPEN_WORK_READS } from '../../../../application/ports/readModels/providers.ts';
import { isRejection, type Rejection, SECRET_MADE_BEFORE } from '../../../../domain/kernel/rejection.ts';
import type { ConnectionView } from '../../../../domain/presentation/connection.ts';
import { PROVIDER_CONNECTION } from '../../../../domain/providerConnection/aggregate.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { keyField, keyIn } from '../edit.ts';
import { instant } from '../format.ts';
import type { Content } from '../page.ts';
import { badge } from '../parts.ts';
import { shownOnce } from '../secret.ts';
import { answering, said, showing, shown, shownAgain } from './acting.ts';
import { type ConnectionFields, connectionInputs, typedOf, wishOf } from './connectionForms.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { accountLink, listOf } from './parts.ts';

export const CONNECTIONS = '/connections';

/** The style of each status's badge. */
const LOOK: { readonly [status: string]: string } = { enabled: 'good', draining: 'busy', disabled: 'bad' };
export const connectionBadge = ({ status }: ConnectionView, { texts }: Operator): Markup =>
  badge(texts.platform.connections.statuses[status], LOOK[status]);
export const circuitBadge = ({ circuit }: ConnectionView, { texts }: Operator): Markup =>
  badge(texts.platform.connections.circuits[circuit], circuit === 'closed' ? 'good' : 'bad');

/** The account whose payments the connection serves, or all accounts. */
export const ownerOf = ({ accountId }: ConnectionView, operator: Operator): Markup =>
  accountId === null ? html`${operator.texts.platform.connections.everybody}` : accountLink(accountId, null, operator);

const row = (view: ConnectionView, operator: Operator): Markup => {
  const { to, texts, language } = operator;
  const { certificate, openPayments, openPayouts } = view;
  return html`<tr><th scope="row" class="wide"><a href="${to(`${CONNECTIONS}/${view.id}`)}">${view.name}</a><br><span class="muted small">${view.preset}</span></th>
<td>${connectionBadge(view, operator)}</td><td>${circuitBadge(view, operator)}</td><td>${ownerOf(view, operator)}</td><td>${view.order}</td>
<td>${openPayments + openPayouts}</td><td>${certificate === null ? texts.none : instant(certificate.expiresAt, language)}</td></tr>`;
};

const listRoute = route('GET', `${PLATFORM_PAGES}${CONNECTIONS}`, {
  ...showing,
  operationId: 'showConnections',
  summary: 'Show provider connections',
  reads: OPEN_WORK_READS,
  handle: (context) =>
    shown(context, async (operator) => {
      const { texts, platform, to } = operator;
      const { connections: words, sections } = texts.platform;
      const all = await platform.listConnections();
      const heads = [words.fields.name, texts.payments.status, words.circuit, words.fields.accountId];
      const more = [words.fields.order, words.openWork, words.certificate];
      const rows = all.map((view) => row(view, operator));
      return {
        title: sections.connections,
        section: CONNECTIONS,
        main: html`<section class="panel"><p class="muted">${words.lead}</p>${listOf(sections.connections, [...heads, ...more], rows, words.empty, all.length, operator)}
<p class="row"><a class="button" href="${to(`${CONNECTIONS}/new`)}">${words.add}</a><a href="${to(`${CONNECTIONS}/findings`)}">${words.findings}</a></p></section>`,
      };
    }),
});

const newPage =
  (fields: ConnectionFields = { preset: 'generic', order: '0' }, key: string | null = null) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, to, csrf } = operator;
    const { connections: words } = texts.platform;
    return {
      title: words.add,
      section: CONNECTIONS,
      main: html`<section class="panel"><p class="muted">${words.addLead}</p><form method="post" action="${to(`${CONNECTIONS}/new`)}" class="stack narrow">${csrf}${keyField(key)}
${connectionInputs(fields, true, operator)}<p class="row"><button>${words.add}</button><a href="${to(CONNECTIONS)}">${texts.back}</a></p></form></section>`,
    };
  };

const newRoute = route('GET', `${PLATFORM_PAGES}${CONNECTIONS}/new`, {
  ...showing,
  operationId: 'showNewConnection',
  summary: 'Show the form of a new provider connection',
  handle: (context) => shown(context, newPage()),
});

/** Shows the callback URL, which contains a secret. */
export const callbackUrlPage = (id: string, url: string, lead: string, { texts, to }: Operator): Content => {
  const { connections: words } = texts.platform;
  return {
    title: words.callbackUrl,
    section: CONNECTIONS,
    main: html`${shownOnce(url, words.callbackUrl, lead, { texts })}<p><a class="button second" href="${to(`${CONNECTIONS}/${id}`)}">${words.toConnection}</a></p>`,
  };
};

const addRoute = route('POST', `${PLATFORM_PAGES}${CONNECTIONS}/new`, {
  ...answering,
  operationId: 'addConnectionFromPage',
  summary: 'Add a provider connection and show its callback URL once',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { texts, platform, actor } = operator;
    const { connections: words } = texts.platform;
    const fields = typedOf(context.body);
    const wish = wishOf(fields);
    const key = keyIn(context.body);
    const again = (refusal: Rejection) =>
      shownAgain(context, operator, newPage(fields, refusal === SECRET_MADE_BEFORE ? null : key), refusal);
    if ('misread' in wish) return again(said(texts.settings.badValue(words.fields[wish.misread])));
    const done = await platform.addProviderConnection(wish.terms, wish.secrets, actor, key);
    if (isRejection(done)) return again(done);
    const id = PROVIDER_CONNECTION.idPrefix + done.connectionId;
    return shownToOperator(200, context, operator, callbackUrlPage(id, done.callbackUrl, words.callbackLead, operator));
  },
});

export const CONNECTION_LIST_PAGES = [listRoute, newRoute, addRoute];
