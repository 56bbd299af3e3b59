// /dashboard/platform/erasure: finds a person's data, reports it, and erases it. Every step is a form, so that no address has a tax id.
import type { ErasedPage } from '../../../../../application/privacy/eraseData.ts';
import type { HeldPage } from '../../../../../application/privacy/findPerson.ts';
import { erasedView, type HeldView, heldView, publicId } from '../../../../../application/privacy/heldView.ts';
import { type NamedSubject, SUBJECT_NAMES, searchNamed } from '../../../../../application/privacy/namedSubject.ts';
import { isRejection, type Rejection } from '../../../../../domain/kernel/rejection.ts';
import { formatAmount } from '../../../../../domain/presentation/amount.ts';
import { renderPrivacyReport } from '../../../../api/privacy/reportPdf.ts';
import { PLATFORM_PAGES } from '../../../../kernel/callers.ts';
import type { Form } from '../../../../kernel/forms.ts';
import { route } from '../../../../kernel/route.ts';
import { html, type Markup } from '../../../html.ts';
import { instant } from '../../format.ts';
import { badge, options } from '../../parts.ts';
import { tableOf } from '../../tables.ts';
import { refusalText } from '../../texts/refusals.ts';
import { type Acting, answering, showing, shown } from '../acting.ts';
import { type Operator, operatorOf, shownToOperator } from '../page.ts';
import { isReason, reasonInput } from '../parts.ts';
import { accountCell } from './parts.ts';

const SECTION = '/erasure';

type SubjectName = keyof NamedSubject;
interface Typed {
  readonly by: SubjectName;
  readonly value: string;
  /** The id after which the shown page begins; empty for the first page. */
  readonly after: string;
}
const NOTHING_TYPED: Typed = { by: 'document', value: '', after: '' };

const typedOf = (body: Form): Typed => ({
  by: SUBJECT_NAMES.find((name) => name === body.text('by')) ?? 'document',
  value: body.text('value'),
  after: body.text('after'),
});

/** Returns the search of a form, or its rejection. */
const searchOf = ({ by, value, after }: Typed) => searchNamed({ [by]: value }, after === '' ? undefined : after);

const searchPanel = ({ by, value }: Typed, { texts, csrf, to }: Operator): Markup => {
  const { erasure } = texts.operations;
  const subjects = SUBJECT_NAMES.map((name) => [name, erasure.subjects[name]] as const);
  return html`<section class="panel"><p class="muted">${erasure.lead}</p><form method="post" class="filters" action="${to(SECTION)}">${csrf}
<label>${erasure.subject}<select name="by">${options(subjects, by)}</select></label><label class="wide">${erasure.value}<input name="value" value="${value}" maxlength="254" autocomplete="off" required></label>
<button>${erasure.find}</button></form><p class="muted small">${erasure.slow}</p></section>`;
};

const heldTable = (held: readonly HeldView[], operator: Operator): Markup => {
  const { texts, language } = operator;
  const { erasure } = texts.operations;
  const rows = held.map(
    (one) =>
      html`<tr><th scope="row">${erasure.kinds[one.kind]}<br><code class="small">${one.chargeId ?? one.id}</code></th><td>${accountCell(one.accountId, one.mode, operator)}</td>
<td>${formatAmount(one.amount, one.currency, language)}</td><td>${instant(one.createdAt, language)}</td>
<td>${one.keptUntil === null ? erasure.notEnded : instant(one.keptUntil, language)}</td><td>${instant(one.erasedAt, language)}</td></tr>`,
  );
  const heads = [
    ...[erasure.what, texts.platform.account, erasure.amount, erasure.createdAt],
    ...[erasure.keptUntil, erasure.erasedAt],
  ];
  return tableOf(erasure.what, heads, rows);
};

const hiddenSubject = ({ by, value, after }: Typed): Markup =>
  html`<input type="hidden" name="by" value="${by}"><input type="hidden" name="value" value="${value}"><input type="hidden" name="after" value="${after}">`;

/** The button that shows the next page, if there is one. */
const nextPage = (typed: Typed, { next }: HeldPage, { texts, csrf, to }: Operator): Markup | null =>
  next &&
  html`<form method="post" action="${to(SECTION)}">${csrf}${hiddenSubject({ ...typed, after: publicId(next) })}<button class="second">${texts.operations.erasure.next}</button></form>`;

interface TypedOrder {
  readonly reason: string;
  readonly isDespite: boolean;
}
const NO_ORDER: TypedOrder = { reason: '', isDespite: false };

const actionPanels = (typed: Typed, { reason, isDespite }: TypedOrder, operator: Operator): Markup => {
  const { texts, csrf, to } = operator;
  const { erasure } = texts.operations;
  const box = isDespite
    ? html`<input type="checkbox" name="despiteRetention" value="yes" checked>`
    : html`<input type="checkbox" name="despiteRetention" value="yes">`;
  return html`<section class="panel"><h2>${erasure.report}</h2><p class="muted">${erasure.reportLead}</p>
<form method="post" class="row" action="${to(`${SECTION}/report`)}" data-download>
${csrf}${hiddenSubject(typed)}<button class="second" name="format" value="pdf">PDF</button><button class="second" name="format" value="json">JSON</button></form></section>
<section class="panel"><h2>${erasure.erase}</h2><form method="post" class="stack narrow" action="${to(`${SECTION}/erase`)}">${csrf}${hiddenSubject(typed)}
<p class="muted">${erasure.eraseLead}</p>${reasonInput(reason, operator)}
<label class="box">${box}${erasure.despite}</label><label class="box"><input type="checkbox" name="confirm" value="yes" required>${erasure.confirm}</label>
<p><button class="danger">${erasure.erase}</button></p></form></section>`;
};

const content = (main: Markup, { texts }: Operator) => ({
  title: texts.platform.sections.erasure,
  section: SECTION,
  main,
});

/** Returns the content with the data held about the subject, or with `problem` if the subject is invalid. */
const foundContent = async (typed: Typed, order: TypedOrder, operator: Operator) => {
  const { platform, texts } = operator;
  const { erasure } = texts.operations;
  const search = searchPanel(typed, operator);
  const wanted = searchOf(typed);
  const found = isRejection(wanted) ? wanted : await platform.findPersonalData(wanted.of, wanted.after);
  if (isRejection(found)) return { ...content(search, operator), problem: erasure.badSubject };
  const held = found.held.map(heldView);
  if (held.length === 0) return content(html`${search}<p class="empty">${erasure.none}</p>`, operator);
  const main = html`${search}<section class="panel"><h2>${erasure.found(held.length)}</h2>${nextPage(typed, found, operator)}
${heldTable(held, operator)}</section>${actionPanels(typed, order, operator)}`;
  return content(main, operator);
};

const READS = ['payments', 'payouts', 'disputes'] as const;
const searching = { ...answering, reads: READS } as const;

const erasureRoute = route('GET', `${PLATFORM_PAGES}/erasure`, {
  ...showing,
  operationId: 'showErasure',
  summary: 'Show the search for a person’s data',
  handle: (context) => shown(context, async (operator) => content(searchPanel(NOTHING_TYPED, operator), operator)),
});

const findRoute = route('POST', `${PLATFORM_PAGES}/erasure`, {
  ...searching,
  operationId: 'findPersonalDataFromPage',
  summary: 'Show the payments and payouts that hold a person’s data',
  handle: async (context) => {
    const operator = operatorOf(context);
    const found = await foundContent(typedOf(context.body), NO_ORDER, operator);
    return shownToOperator('problem' in found ? 422 : 200, context, operator, found);
  },
});

const REPORT_NAME = 'personal-data';

const reportRoute = route('POST', `${PLATFORM_PAGES}/erasure/report`, {
  ...searching,
  operationId: 'reportPersonalDataFromPage',
  summary: 'Download what is held about a person',
  responses: {
    200: { kind: 'bytes', description: 'The report.', contentTypes: ['application/pdf', 'application/json'] },
  },
  handle: async (context) => {
    const { body, services } = context;
    const wanted = searchOf(typedOf(body));
    if (isRejection(wanted)) return wanted;
    const found = await services.platform.findPersonalData(wanted.of, wanted.after);
    if (isRejection(found)) return found;
    const data = found.held.map(heldView);
    const isPdf = body.text('format') !== 'json';
    const headers = { 'Content-Disposition': `attachment; filename="${REPORT_NAME}.${isPdf ? 'pdf' : 'json'}"` };
    if (!isPdf) {
      const bytes = JSON.stringify({ data, hasMore: found.next !== null }, null, 2);
      return { status: 200, headers, contentType: 'application/json', bytes };
    }
    const bytes = await renderPrivacyReport(data, services.accounts.realNow());
    return { status: 200, headers, contentType: 'application/pdf', bytes };
  },
});

const outcomePanel = (typed: Typed, page: ErasedPage, operator: Operator): Markup => {
  const { texts, to, language } = operator;
  const { erasure } = texts.operations;
  const look = { erased: 'good', erased_before: '', refused: 'bad' } as const;
  const rows = page.erased.map((one) => {
    const { id, outcome } = erasedView(one);
    const because = one.refused === null ? texts.none : refusalText(one.refused, language);
    return html`<tr><th scope="row"><code>${id}</code></th><td>${badge(erasure.outcomes[outcome], look[outcome])}</td><td class="broad">${because}</td></tr>`;
  });
  return html`<section class="panel"><h2>${erasure.outcome}</h2>${nextPage(typed, page, operator)}
${tableOf(erasure.outcome, [erasure.what, erasure.outcome, erasure.because], rows)}<p class="row"><a href="${to(SECTION)}">${erasure.searchAgain}</a></p></section>`;
};

/** Returns the page's words for a rejected erasure. */
const wordsOf = (rejection: Rejection, { reason }: TypedOrder, { texts, language }: Operator): string => {
  const { param } = rejection;
  const { erasure } = texts.operations;
  if (param === 'reason') return isReason(reason) ? erasure.personalReason : texts.platform.badReason;
  return rejection.code === 'not_found' ? erasure.none : refusalText(rejection, language);
};

const erase = async (context: Acting) => {
  const operator = operatorOf(context);
  const { body } = context;
  const typed = typedOf(body);
  const order = { reason: body.text('reason'), isDespite: body.text('despiteRetention') !== '' };
  const again = async (problem: string) =>
    shownToOperator(422, context, operator, { problem, ...(await foundContent(typed, order, operator)) });
  if (body.text('confirm') === '') return again(operator.texts.operations.erasure.notConfirmed);
  const wanted = searchOf(typed);
  if (isRejection(wanted)) return again('');
  const wish = { reason: order.reason, despiteRetention: order.isDespite };
  const done = await operator.platform.erasePersonalData(wanted.of, wish, operator.actor, wanted.after);
  if (isRejection(done)) return again(wordsOf(done, order, operator));
  const main = outcomePanel(typed, done, operator);
  return shownToOperator(200, context, operator, content(main, operator));
};

const eraseRoute = route('POST', `${PLATFORM_PAGES}/erasure/erase`, {
  ...searching,
  operationId: 'erasePersonalDataFromPage',
  summary: 'Erase a person’s data and show the outcome',
  handle: erase,
});

export const ERASURE_PAGES = [erasureRoute, findRoute, reportRoute, eraseRoute];
