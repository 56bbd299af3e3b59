// /dashboard/{mode}/disputes: the cases to answer by deadline, and all of them by status.
import { CASE_STATUSES, type CaseStatus, type MedCase } from '../../../../domain/dispute/medCase.ts';
import { type MedCaseId, parseId } from '../../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../../domain/kernel/time.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { matching } from '../../../kernel/query.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant, leftText } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { badge, statusOptions } from '../parts.ts';

const PAGE_SIZE = 25;
/** The most open cases shown: more than anyone answers in a day. The list below contains the others. */
const TO_ANSWER_MAX = 50;

/** The style of each status's badge. */
const LOOK: { readonly [S in CaseStatus]: string } = {
  open: 'disputed',
  appealed: 'pending',
  accepted: '',
  rejected: 'failed',
  closed: '',
};
export const caseBadge = ({ status, moneyOutcome }: MedCase, { texts }: Reader): Markup => {
  const look = moneyOutcome === 'refunded_to_merchant' ? 'paid' : LOOK[status];
  return badge(texts.caseStatuses[status], look);
};

/** Returns the deadline, with the remaining time while an answer is possible. */
export const deadlineOf = ({ status, terms }: MedCase, now: Timestamp, { texts, language }: Reader): Markup => {
  const { disputes } = texts;
  const { responseDeadline: until } = terms;
  if (until === null) return html`${disputes.noDeadline}`;
  const left = status === 'open' ? (leftText(until, now, language) ?? disputes.past) : null;
  return left === null
    ? instant(until, language)
    : html`<strong>${left}</strong><br><span class="muted small">${instant(until, language)}</span>`;
};

export const casesTable = (cases: readonly MedCase[], now: Timestamp, caption: string, reader: Reader): Markup => {
  const { texts, language, to } = reader;
  const { disputes } = texts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption class="hidden">${caption}</caption>
<thead><tr><th scope="col">${texts.payments.amount}</th><th scope="col">${texts.payments.status}</th><th scope="col">${disputes.deadline}</th>
<th scope="col">${disputes.reason}</th><th scope="col">${disputes.openedAt}</th></tr></thead>
<tbody>${cases.map((one) => {
    const { caseId, amount, currency, reason, type, openedAt } = one.terms;
    return html`<tr><th scope="row"><a href="${to(`/disputes/${caseId}`)}">${formatAmount(amount, currency, language)}</a></th>
<td>${caseBadge(one, reader)}</td><td>${deadlineOf(one, now, reader)}</td><td class="wide">${reason ?? texts.caseTypes[type]}</td><td>${instant(openedAt, language)}</td></tr>`;
  })}</tbody></table></div>`;
};

const toAnswer = (cases: readonly MedCase[], now: Timestamp, reader: Reader): Markup => {
  const { disputes } = reader.texts;
  return html`<section class="panel"><h2>${disputes.toAnswer}</h2>${
    cases.length === 0
      ? html`<p class="empty">${disputes.noneToAnswer}</p>`
      : html`<p class="muted">${disputes.toAnswerLead}</p>${casesTable(cases, now, disputes.toAnswer, reader)}`
  }</section>`;
};

export const disputesRoute = route('GET', '/dashboard/{mode}/disputes', {
  ...ofMember,
  operationId: 'showDisputes',
  summary: 'Show disputes',
  params: modeParam,
  query: {
    ...pageQuery,
    status: matching('Only disputes in this status.', 'a status', (text) => text),
    after: matching('The last dispute of the page before.', 'an id', (text) => text),
  },
  reads: ['disputes'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, services, texts, to } = reader;
    const { disputes } = texts;
    const status = CASE_STATUSES.find((one) => one === context.query.status);
    const sent = context.query.after === undefined ? null : parseId<MedCaseId>(context.query.after);
    const after = sent !== null && (await services.views.cases.find(tenant, sent)) !== null ? sent : null;
    const filter = status === undefined ? {} : { status };
    const [now, urgent, found] = await Promise.all([
      services.accounts.now(tenant.accountId, tenant.mode),
      services.views.cases.toAnswer(tenant, TO_ANSWER_MAX),
      services.views.cases.list(tenant, filter, { after, limit: PAGE_SIZE }),
    ]);
    const { cases = [], hasMore = false } = found ?? {};
    const kept = status === undefined ? '' : `status=${status}&`;
    const last = cases.at(-1);
    return shownPage(200, context, reader, {
      title: texts.pages.disputes,
      section: '/disputes',
      main: html`${toAnswer(urgent, now, reader)}<section class="panel"><h2>${disputes.all}</h2>
<form method="get" class="filters"><label>${texts.payments.status}<select name="status">${statusOptions(CASE_STATUSES, status, texts.caseStatuses, reader)}</select></label>
<button class="second">${texts.apply}</button></form>
${cases.length === 0 ? html`<p class="empty">${status === undefined ? disputes.empty : disputes.emptyFiltered}</p>` : casesTable(cases, now, disputes.all, reader)}
<p class="row pager">${after === null ? null : html`<a href="${to('/disputes')}?${kept}">${texts.newest}</a>`}
${hasMore && last ? html`<a href="${to('/disputes')}?${kept}after=${last.terms.caseId}" rel="next">${texts.older}</a>` : null}</p></section>`,
    });
  },
});
