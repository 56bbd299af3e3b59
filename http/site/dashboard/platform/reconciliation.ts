// Reconciliation with institutions: a comparison now, the report of a day, and the findings to resolve (rule V4).

import type { Finding } from '../../../../application/ports/providerBooks.ts';
import type { ReconciliationReport } from '../../../../application/ports/readModels/providerMovements.ts';
import { PREFIX } from '../../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../../domain/kernel/rejection.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import type { ConnectionView } from '../../../../domain/presentation/connection.ts';
import { PROVIDER_CONNECTION } from '../../../../domain/providerConnection/aggregate.ts';
import { connectionParam } from '../../../api/providers/operatorConnections.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { pathParam, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, PAGE, pageQuery, redirect, textQuery } from '../page.ts';
import { fact } from '../parts.ts';
import { acted, acting, said, showing, shown } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { isReason, listOf, resolveForm, simpleForm } from './parts.ts';

const SECTION = '/connections';
const LISTED = 40;
/** The longest time that a page waits for the comparison. */
const WAIT_MS = 5_000;
/** The currency of the institutions' transfers. */
const CURRENCY = 'BRL';

/** The part of the connection's page about reconciliation. */
export const reconciliationPanel = ({ id }: ConnectionView, operator: Operator): Markup => {
  const { texts, to } = operator;
  const { reconciliation: words } = texts.platform;
  const path = to(`${SECTION}/${id}`);
  return html`<section class="panel actions"><h2>${words.title}</h2>${simpleForm(`${path}/compare`, words.compareLead, html`<button class="second">${words.compare}</button>`, operator)}
<form method="get" action="${path}/report" class="filters"><label>${words.day}<input name="day" type="date" required></label><button class="second">${words.report}</button></form>
<p><a href="${to(`${SECTION}/findings`)}">${texts.platform.connections.findings}</a></p></section>`;
};

const compareRoute = route('POST', `${PLATFORM_PAGES}/connections/{id}/compare`, {
  ...acting,
  operationId: 'compareConnectionFromPage',
  summary: 'Compare a provider connection now',
  params: connectionParam,
  handle: async (context) => {
    const operator = operatorOf(context);
    const { texts, platform, to } = operator;
    const { id } = context.params;
    const view = await platform.showConnection(id);
    if (isRejection(view)) return view;
    const place = `${SECTION}/${view.id}`;
    const done = await context.apart(platform.runReconciliation(id, WAIT_MS));
    if (!isRejection(done)) return redirect(to(place), done.isDone ? 'compared' : 'comparing');
    return shownToOperator(422, context, operator, {
      title: texts.platform.reconciliation.title,
      section: SECTION,
      problem: done,
      main: html`<p><a href="${to(place)}">${texts.back}</a></p>`,
    });
  },
});

const amountOf = (value: number | null, { texts, language }: Operator): string =>
  value === null ? texts.none : formatAmount(value, CURRENCY, language);

const SUMS = ['opening', 'received', 'returned', 'paidOut', 'fees', 'closing', 'difference'] as const;

const reportContent = (report: ReconciliationReport, operator: Operator): Markup => {
  const { texts } = operator;
  const { reconciliation: words } = texts.platform;
  const heads = [
    words.kind,
    texts.payment.endToEndId,
    texts.payment.id,
    texts.actor.quita,
    words.found,
    words.resolved,
  ];
  const rows = report.findings.map(
    ({ kind, endToEndId, charge, expected, found, resolved }) =>
      html`<tr><th scope="row">${words.kinds[kind]}</th><td><code>${endToEndId ?? texts.none}</code></td><td><code>${charge ?? texts.none}</code></td>
<td>${amountOf(expected, operator)}</td><td>${amountOf(found, operator)}</td><td class="wide">${resolved === undefined ? texts.no : (resolved.reason ?? texts.yes)}</td></tr>`,
  );
  return html`<section class="panel"><h2>${words.sums}</h2><dl class="amounts">${SUMS.map((name) => fact(words.of[name], amountOf(report[name], operator)) as Markup)}</dl></section>
<section class="panel"><h2>${texts.platform.connections.findings}</h2>${listOf(words.title, heads, rows, words.noFindings, rows.length, operator)}</section>`;
};

const reportRoute = route('GET', `${PLATFORM_PAGES}/connections/{id}/report`, {
  ...showing,
  operationId: 'showConnectionReport',
  summary: 'Show the reconciliation of a day',
  params: connectionParam,
  query: { ...pageQuery, day: textQuery('The day as `yyyy-mm-dd`.') },
  reads: ['providerMovements'],
  responses: { 200: PAGE, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const { texts, platform, to } = operator;
    const { id } = context.params;
    const named = await platform.nameConnection(id);
    if (isRejection(named)) return named;
    const { day = '' } = context.query;
    const report = await platform.reportReconciliation(id, day);
    const isBad = isRejection(report);
    const { reconciliation: words } = texts.platform;
    return shownToOperator(isBad ? 422 : 200, context, operator, {
      title: isBad ? words.title : `${words.title}: ${day}`,
      section: SECTION,
      ...(isBad && { problem: texts.payments.badDay }),
      main: html`<p class="under">${named.name}</p>${isBad ? null : reportContent(report, operator)}<p><a href="${to(`${SECTION}/${PROVIDER_CONNECTION.idPrefix}${id}`)}">${texts.platform.connections.toConnection}</a></p>`,
    });
  },
});

const findingRow = (finding: Finding, operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { reconciliation: words } = texts.platform;
  const { id, connectionId, kind, at, reference, paymentId, expected, found, resolved } = finding;
  return html`<tr><th scope="row">${words.kinds[kind]}<br><span class="muted small">${instant(at, language)}</span></th>
<td class="wide"><code>${reference}</code>${paymentId === null ? null : html`<br><code>${PREFIX.charge}${paymentId}</code>`}</td>
<td><a href="${to(`${SECTION}/${PROVIDER_CONNECTION.idPrefix}${connectionId}`)}">${words.ofConnection}</a></td>
<td>${amountOf(expected, operator)}</td><td>${amountOf(found, operator)}</td>
<td class="wide">${resolved === null ? resolveForm(to(`${SECTION}/findings/${id}/resolve`), operator) : html`${resolved.reason ?? texts.yes}`}</td></tr>`;
};

const findingsPage =
  (all: boolean) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, platform, to } = operator;
    const { reconciliation: words, connections } = texts.platform;
    const { findings, total } = await platform.listFindings({ connectionId: null, all }, LISTED);
    const heads = [words.kind, words.reference, words.connection, texts.actor.quita, words.found, words.resolved];
    const rows = findings.map((one) => findingRow(one, operator));
    const path = to(`${SECTION}/findings`);
    return {
      title: connections.findings,
      section: SECTION,
      main: html`<section class="panel"><p class="muted">${words.findingsLead}</p>${listOf(connections.findings, heads, rows, words.noFindings, total, operator)}
<p class="row">${all ? html`<a href="${path}">${words.openOnly}</a>` : html`<a href="${path}?all=1">${words.withResolved}</a>`}<a href="${to(SECTION)}">${texts.back}</a></p></section>`,
    };
  };

const findingsRoute = route('GET', `${PLATFORM_PAGES}/connections/findings`, {
  ...showing,
  operationId: 'showFindings',
  summary: 'Show the findings of reconciliation',
  query: { ...pageQuery, all: textQuery('Whether resolved findings are included: `1`.') },
  handle: (context) => shown(context, findingsPage(context.query.all === '1')),
});

const findingParam = {
  finding: pathParam('The `rf_` id of the finding.', (text) =>
    /^rf_[0-9a-f]{24}$/.test(text) ? text : reject('not_found', 'No unresolved finding has this id.'),
  ),
};

const resolveRoute = route('POST', `${PLATFORM_PAGES}/connections/findings/{finding}/resolve`, {
  ...acting,
  operationId: 'resolveFindingFromPage',
  summary: 'Resolve a finding of reconciliation',
  params: findingParam,
  handle: (context) => {
    const reason = context.body.text('reason');
    const act = async ({ platform, actor, texts }: Operator) =>
      isReason(reason)
        ? platform.resolveFinding(context.params.finding, reason, actor)
        : said(texts.platform.badReason);
    return acted(context, { act, done: 'findingResolved', place: `${SECTION}/findings`, page: findingsPage(false) });
  },
});

export const FINDING_PAGES = [findingsRoute, resolveRoute];
export const RECONCILIATION_PAGES = [compareRoute, reportRoute];
