// /dashboard/platform/disputes: cases and reports that need an operator, cases near their deadline, and a case opened by hand.
import type { CaseReviewItem } from '../../../../application/disputes/reviews.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { MedCase } from '../../../../domain/dispute/medCase.ts';
import { type PaymentId, PREFIX, parseId } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { centavosOf, formatAmount } from '../../../../domain/presentation/amount.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, redirect } from '../page.ts';
import { acting, said, showing, shown, shownAgain } from './acting.ts';
import { type Operator, operatorOf } from './page.ts';
import { accountLink, field, isReason, listOf, reasonInput } from './parts.ts';

const SECTION = '/disputes';
const LISTED = 50;
/** Cases with less time left are near their deadline. */
export const NEAR_HOURS = 48;

const waitingRow = (item: CaseReviewItem, operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { caseId, amount, currency, accountId, mode, because, since } = item;
  return html`<tr><th scope="row"><a href="${to(`${SECTION}/${caseId}`)}">${formatAmount(amount, currency, language)}</a></th>
<td class="wide">${texts.platform.disputes.because[because]}</td><td>${accountLink(accountId, mode, operator)}</td><td>${instant(since, language)}</td></tr>`;
};

const nearRow = ({ terms }: MedCase, operator: Operator): Markup => {
  const { texts, language, to } = operator;
  const { caseId, amount, currency, accountId, mode, type, responseDeadline } = terms;
  return html`<tr><th scope="row"><a href="${to(`${SECTION}/${MED_CASE.idPrefix}${caseId}`)}">${formatAmount(amount, currency, language)}</a></th>
<td>${texts.caseTypes[type]}</td><td>${accountLink(ACCOUNT.idPrefix + accountId, mode, operator)}</td><td>${instant(responseDeadline, language)}</td></tr>`;
};

/** The submitted values of a case to open. */
interface Typed {
  readonly chargeId: string;
  readonly amount: string;
  readonly reason: string;
}
const NOTHING_TYPED: Typed = { chargeId: '', amount: '', reason: '' };

const openForm = ({ chargeId, amount, reason }: Typed, operator: Operator): Markup => {
  const { texts, to, csrf } = operator;
  const { disputes } = texts.platform;
  const isTyped = chargeId !== '' || amount !== '' || reason !== '';
  const form = html`<form method="post" action="${to(SECTION)}" class="stack narrow">${csrf}<p class="muted">${disputes.openLead}</p>
${field('chargeId', texts.payment.id, chargeId, disputes.chargeHint)}${field('amount', disputes.amount, amount, texts.create.amountHint)}${reasonInput(reason, operator)}<p><button>${disputes.open}</button></p></form>`;
  return html`<section class="panel"><h2>${disputes.open}</h2>${isTyped ? form : html`<details><summary>${disputes.open}</summary>${form}</details>`}</section>`;
};

const listPage =
  (typed: Typed = NOTHING_TYPED) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, platform } = operator;
    const { disputes, sections, account, since } = texts.platform;
    const [{ waiting, total }, near, nearTotal] = await Promise.all([
      platform.listCaseReviews(LISTED),
      platform.listCasesNearDeadline(NEAR_HOURS, LISTED),
      platform.countCasesNearDeadline(NEAR_HOURS),
    ]);
    const amount = texts.payments.amount;
    const ofWaiting = waiting.map((item) => waitingRow(item, operator));
    const ofNear = near.map((one) => nearRow(one, operator));
    return {
      title: sections.disputes,
      section: SECTION,
      main: html`<section class="panel"><h2>${disputes.waiting}</h2>${listOf(disputes.waiting, [amount, disputes.why, account, since], ofWaiting, disputes.noneWaits, total, operator)}</section>
<section class="panel"><h2>${texts.platform.overview.deadlines}</h2><p class="muted">${disputes.nearLead(NEAR_HOURS)}</p>
${listOf(texts.platform.overview.deadlines, [amount, texts.disputes.type, account, texts.disputes.deadline], ofNear, disputes.noneNear, nearTotal, operator)}</section>${openForm(typed, operator)}`,
    };
  };

const listRoute = route('GET', `${PLATFORM_PAGES}/disputes`, {
  ...showing,
  operationId: 'showCaseReviews',
  summary: 'Show dispute cases that need an operator',
  reads: ['disputes'],
  handle: (context) => shown(context, listPage()),
});

const openRoute = route('POST', `${PLATFORM_PAGES}/disputes`, {
  ...acting,
  operationId: 'openCaseFromPage',
  summary: 'Open a dispute case by hand',
  handle: async (context) => {
    const operator = operatorOf(context);
    const { body } = context;
    const typed: Typed = { chargeId: body.text('chargeId'), amount: body.text('amount'), reason: body.text('reason') };
    const again = (refusal: Rejection) => shownAgain(context, operator, listPage(typed), refusal);
    const { texts, platform, actor, to } = operator;
    const payment = parseId<PaymentId>(typed.chargeId, PREFIX.charge, PAYMENT.idPrefix);
    const amount = centavosOf(typed.amount);
    if (payment === null) return again(said(texts.platform.disputes.badCharge));
    if (amount === null) return again(said(texts.create.badAmount));
    if (!isReason(typed.reason)) return again(said(texts.platform.badReason));
    const done = await platform.openCase(payment, { amount: toMinor(amount), reason: typed.reason }, actor);
    return isRejection(done)
      ? again(done.code === 'not_found' ? said(texts.platform.disputes.badCharge) : done)
      : redirect(to(`${SECTION}/${done.caseId}`), 'caseOpened');
  },
});

export const CASE_REVIEW_PAGES = [listRoute, openRoute];
