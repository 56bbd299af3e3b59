// /dashboard/platform/disputes/{id}: one case, why it needs an operator, and the possible decisions.
import type { CaseReviewItem } from '../../../../application/disputes/reviews.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import type { MedCase, MedCaseState } from '../../../../domain/dispute/medCase.ts';
import { type MedCaseId, PREFIX } from '../../../../domain/kernel/ids.ts';
import { toMinor } from '../../../../domain/kernel/money.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { centavosOf, formatAmount } from '../../../../domain/presentation/amount.ts';
import { caseParam } from '../../../api/disputes/cases.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import type { Form } from '../../../kernel/forms.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Content } from '../page.ts';
import { fact } from '../parts.ts';
import { acted, acting, said, showing, shown } from './acting.ts';
import type { Operator } from './page.ts';
import { accountLink, choice, field, isReason, reasonInput, simpleForm } from './parts.ts';

const SECTION = '/disputes';

/** The submitted values of one of the forms. */
interface Typed {
  readonly verdict: string;
  readonly amount: string;
  readonly reason: string;
}
const NOTHING_TYPED: Typed = { verdict: '', amount: '', reason: '' };
const typedOf = (body: Form): Typed => ({
  verdict: body.text('verdict'),
  amount: body.text('amount'),
  reason: body.text('reason'),
});

const SETTLINGS = ['held', 'lost', 'nothing'] as const;
const RULINGS = ['agreed', 'disagreed'] as const;

const ruledText = (item: CaseReviewItem, operator: Operator): string | null => {
  const { texts, language } = operator;
  const { disputes } = texts.platform;
  if (item.reason !== null) return disputes.never[item.reason];
  if (item.result === null) return null;
  const paid =
    item.returnedToPayer === null
      ? ''
      : ` · ${disputes.payerGot} ${formatAmount(item.returnedToPayer, item.currency, language)}`;
  return disputes.results[item.result] + paid;
};

/** The forms for one reason why the case waits. */
const formsOf = (item: CaseReviewItem, typed: Typed, operator: Operator): Markup => {
  const { texts, to, csrf } = operator;
  const { disputes } = texts.platform;
  const path = to(`${SECTION}/${item.caseId}`);
  const said = ruledText(item, operator);
  const head = html`<h3>${disputes.because[item.because]}</h3>${said === null ? null : html`<p>${said}</p>`}`;
  if (item.because === 'review')
    return html`${head}${simpleForm(`${path}/approve`, disputes.approveLead, html`<button>${disputes.approve}</button>`, operator)}
${simpleForm(`${path}/reject`, disputes.rejectLead, html`<button class="second">${disputes.reject}</button>`, operator)}`;
  if (item.because === 'amount_mismatch') {
    const ways = SETTLINGS.map((one) => [one, disputes.settlings[one]] as const);
    return html`${head}<form method="post" action="${path}/settle" class="action">${csrf}<p class="muted">${disputes.settleLead}</p>
${choice('verdict', disputes.verdict, ways, SETTLINGS.find((one) => one === typed.verdict) ?? null)}
${field('amount', disputes.amount, typed.amount, disputes.settleAmountHint)}${reasonInput(typed.reason, operator)}<button class="danger">${disputes.settle}</button></form>`;
  }
  return html`${head}<form method="post" action="${path}/dismiss" class="action">${csrf}<p class="muted">${disputes.dismissLead}</p>
${reasonInput(typed.reason, operator)}<button class="second">${disputes.dismiss}</button></form>`;
};

const ruleForm = ({ terms, status, review }: MedCase, typed: Typed, operator: Operator): Markup | null => {
  const { texts, to, csrf } = operator;
  const { disputes } = texts.platform;
  if ((status !== 'open' && status !== 'appealed') || review !== null) return null;
  const ways = RULINGS.map((one) => [one, disputes.results[one]] as const);
  return html`<details><summary>${disputes.rule}</summary><form method="post" action="${to(`${SECTION}/${MED_CASE.idPrefix}${terms.caseId}/rule`)}" class="action">${csrf}<p class="muted">${disputes.ruleLead}</p>
${choice('verdict', disputes.ruling, ways, RULINGS.find((one) => one === typed.verdict) ?? null)}${field('amount', disputes.payerGot, typed.amount, disputes.payerGotHint)}<button class="danger">${disputes.rule}</button></form></details>`;
};

const caseFacts = (found: MedCase, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { disputes } = texts;
  const { terms, held, status, moneyOutcome, evidence, appeal } = found;
  const amount = (value: number): string => formatAmount(value, terms.currency, language);
  return html`${fact(texts.payments.status, texts.caseStatuses[status])}${fact(texts.payments.amount, amount(terms.amount))}
${fact(disputes.held, moneyOutcome === null ? amount(held) : null)}
${fact(disputes.outcome, moneyOutcome === null ? null : texts.moneyOutcomes[moneyOutcome])}
${fact(disputes.type, texts.caseTypes[terms.type])}${fact(disputes.reason, terms.reason)}
${fact(disputes.openedAt, instant(terms.openedAt, language))}
${fact(disputes.deadline, terms.responseDeadline === null ? disputes.noDeadline : instant(terms.responseDeadline, language))}
${fact(disputes.stepAppealed, appeal?.reason ?? null)}
${fact(disputes.evidence, evidence.length === 0 ? disputes.noEvidence : evidence.map(({ fileName }) => fileName).join(', '))}`;
};

const facts = (id: MedCaseId, state: MedCaseState, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { platform } = texts;
  const about = state.status === 'absent' ? state.notTaken : state.terms;
  if (about === undefined) return html``;
  return html`<section class="panel"><h2>${texts.payment.facts}</h2><dl>
${fact(texts.disputes.one, html`<code>${MED_CASE.idPrefix}${id}</code>`)}
${fact(platform.disputes.bankId, html`<code>${about.providerCaseId}</code>`)}
${fact(platform.account, accountLink(ACCOUNT.idPrefix + about.accountId, about.mode, operator))}
${fact(texts.payment.id, html`<code>${PREFIX.charge}${about.paymentId}</code>`)}
${state.status === 'absent' ? html`${fact(texts.payments.amount, formatAmount(about.amount, about.currency, language))}${fact(texts.payments.status, platform.disputes.noCase)}` : caseFacts(state, operator)}</dl></section>`;
};

const onePage =
  (id: MedCaseId, typed: Typed = NOTHING_TYPED) =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, to } = operator;
    const found = await platform.showCaseReview(id);
    if (isRejection(found)) return found;
    const { state, waiting } = found;
    const forms = waiting.map((item) => formsOf(item, typed, operator));
    return {
      title: texts.disputes.one,
      section: SECTION,
      main: html`<div class="two"><div>${facts(id, state, operator)}</div><div><section class="panel actions"><h2>${texts.payment.actions}</h2>
${forms.length === 0 ? html`<p class="muted">${texts.platform.disputes.needsNobody}</p>` : forms}${state.status === 'absent' ? null : ruleForm(state, typed, operator)}</section></div></div>
<p><a href="${to(SECTION)}">${texts.back}</a></p>`,
    };
  };

const one = { params: caseParam } as const;
const AT = `${PLATFORM_PAGES}/disputes/{id}`;
const placeOf = (id: MedCaseId): string => `${SECTION}/${MED_CASE.idPrefix}${id}`;

const oneRoute = route('GET', AT, {
  ...showing,
  ...one,
  operationId: 'showCaseReview',
  summary: 'Show a dispute case, and what an operator can decide',
  handle: (context) => shown(context, onePage(context.params.id)),
});

const reviewRoute = (verdict: 'approve' | 'reject', summary: string) =>
  route('POST', `${AT}/${verdict}`, {
    ...acting,
    ...one,
    operationId: `${verdict}CaseFromPage`,
    summary,
    handle: (context) => {
      const { id } = context.params;
      const act = ({ platform, actor }: Operator) => platform.reviewCase(id, verdict === 'approve', actor);
      return acted(context, { act, done: 'caseReviewed', place: placeOf(id), page: onePage(id) });
    },
  });

const settleRoute = route('POST', `${AT}/settle`, {
  ...acting,
  ...one,
  operationId: 'settleCaseFromPage',
  summary: 'Settle a dispute case with a mismatched amount',
  handle: (context) => {
    const { id } = context.params;
    const typed = typedOf(context.body);
    const act = async ({ platform, actor, texts }: Operator) => {
      const verdict = SETTLINGS.find((way) => way === typed.verdict) ?? 'nothing';
      const amount = verdict === 'nothing' ? 0 : centavosOf(typed.amount);
      if (amount === null) return said(texts.create.badAmount);
      if (!isReason(typed.reason)) return said(texts.platform.badReason);
      return platform.settleCase(id, { verdict, amount: toMinor(amount) }, typed.reason, actor);
    };
    return acted(context, { act, done: 'caseSettled', place: placeOf(id), page: onePage(id, typed) });
  },
});

const dismissRoute = route('POST', `${AT}/dismiss`, {
  ...acting,
  ...one,
  operationId: 'dismissCaseReportFromPage',
  summary: 'Dismiss a dispute report',
  handle: (context) => {
    const { id } = context.params;
    const typed = typedOf(context.body);
    const act = async ({ platform, actor, texts }: Operator) =>
      isReason(typed.reason)
        ? platform.dismissReport(MED_CASE.idPrefix + id, typed.reason, actor)
        : said(texts.platform.badReason);
    return acted(context, { act, done: 'reportDismissed', place: placeOf(id), page: onePage(id, typed) });
  },
});

const ruleRoute = route('POST', `${AT}/rule`, {
  ...acting,
  ...one,
  operationId: 'ruleCaseFromPage',
  summary: 'Rule a dispute case by hand',
  handle: (context) => {
    const { id } = context.params;
    const typed = typedOf(context.body);
    const act = async ({ platform, actor, texts }: Operator) => {
      const result = RULINGS.find((way) => way === typed.verdict) ?? 'disagreed';
      const amount = typed.amount === '0' ? 0 : centavosOf(typed.amount);
      if (typed.amount !== '' && amount === null) return said(texts.create.badAmount);
      return platform.ruleCase(id, { result, returnedToPayer: amount === null ? null : toMinor(amount) }, actor);
    };
    return acted(context, { act, done: 'caseRuled', place: placeOf(id), page: onePage(id, typed) });
  },
});

export const CASE_PAGES = [
  oneRoute,
  reviewRoute('approve', 'Approve the outcome of a dispute case'),
  reviewRoute('reject', 'Reject the outcome of a dispute case'),
  settleRoute,
  dismissRoute,
  ruleRoute,
];
