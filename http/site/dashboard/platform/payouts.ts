// /dashboard/platform/payouts: payouts of all accounts that await approval, and any payout by its id (rules Y5, O1).
import type { ListedPayout } from '../../../../application/ports/readModels/payouts.ts';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import { parseId } from '../../../../domain/kernel/ids.ts';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { PAYOUT } from '../../../../domain/payout/aggregate.ts';
import type { Review } from '../../../../domain/payout/decisions.ts';
import type { PayoutId } from '../../../../domain/payout/payout.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { REASON_MAX } from '../../../api/payouts/payoutSchema.ts';
import { payoutParam } from '../../../api/payouts/payouts.ts';
import { PLATFORM_PAGES } from '../../../kernel/callers.ts';
import { route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { type Content, PAGE, pageQuery, REDIRECT, redirect, textQuery } from '../page.ts';
import { fact } from '../parts.ts';
import { payoutBadge } from '../payouts/list.ts';
import { payoutMoney } from '../payouts/one.ts';
import { acted, acting, said, showing, shown } from './acting.ts';
import { type Operator, operatorOf, shownToOperator } from './page.ts';
import { accountLink, finder, isReason, listOf, simpleForm } from './parts.ts';

const SECTION = '/payouts';
const LISTED = 50;

const accountOf = ({ tenant: { accountId, mode } }: ListedPayout, operator: Operator): Markup =>
  accountLink(ACCOUNT.idPrefix + accountId, mode, operator);

const row = (listed: ListedPayout, operator: Operator): Markup => {
  const { language, to } = operator;
  const { payout } = listed;
  return html`<tr><th scope="row"><a href="${to(`${SECTION}/${payout.id}`)}">${formatAmount(payout.amount, payout.currency, language)}</a></th>
<td class="wide">${payout.destination}</td><td>${accountOf(listed, operator)}</td><td>${instant(payout.created_at, language)}</td></tr>`;
};

const listPage =
  (sought = '', problem?: string) =>
  async (operator: Operator): Promise<Content> => {
    const { texts, platform } = operator;
    const { payouts: words, sections, account, overview } = texts.platform;
    const { payouts, total } = await platform.listPayouts(null, LISTED);
    const heads = [texts.payments.amount, texts.payouts.destination, account, texts.payments.createdAt];
    const rows = payouts.map((one) => row(one, operator));
    return {
      title: sections.payouts,
      section: SECTION,
      ...(problem !== undefined && { problem }),
      main: html`<section class="panel"><h2>${overview.payouts}</h2><p class="muted">${words.lead}</p>${listOf(overview.payouts, heads, rows, words.empty, total, operator)}</section>
<section class="panel"><h2>${words.find}</h2>${finder(texts.payouts.id, sought, words.findHint, words.show)}</section>`,
    };
  };

const listRoute = route('GET', `${PLATFORM_PAGES}/payouts`, {
  ...showing,
  operationId: 'showPayoutReviews',
  summary: 'Show payouts that await approval',
  query: { ...pageQuery, q: textQuery('The id of a payout.') },
  reads: ['payouts'],
  responses: { 200: PAGE, 303: REDIRECT, 422: PAGE },
  handle: async (context) => {
    const operator = operatorOf(context);
    const q = context.query.q?.trim() ?? '';
    if (q === '') return shown(context, listPage());
    const id = parseId<PayoutId>(q, PAYOUT.idPrefix);
    const found = id === null ? null : await operator.platform.showPayout(id);
    if (found !== null && !isRejection(found)) return redirect(operator.to(`${SECTION}/${found.payout.id}`));
    const page = await listPage(q, operator.texts.platform.payouts.unknown)(operator);
    return shownToOperator(422, context, operator, page);
  },
});

const actions = ({ payout }: ListedPayout, typed: string, { texts, to, csrf }: Operator): Markup => {
  const { payouts: words } = texts;
  const path = to(`${SECTION}/${payout.id}`);
  return html`<section class="panel actions"><h2>${texts.payment.actions}</h2>${
    payout.awaiting_approval
      ? html`${simpleForm(`${path}/approve`, texts.platform.payouts.approveLead, html`<button>${words.approve}</button>`, { csrf })}
${simpleForm(
  `${path}/reject`,
  texts.platform.payouts.rejectLead,
  html`<label>${words.rejectReason} (${texts.create.optional})<input name="reason" value="${typed}" maxlength="${REASON_MAX}"></label>
<button class="danger">${words.reject}</button>`,
  { csrf },
)}`
      : html`<p class="muted">${words.notWaiting}</p>`
  }</section>`;
};

const facts = (listed: ListedPayout, operator: Operator): Markup => {
  const { texts, language } = operator;
  const { payouts: words, payment } = texts;
  const { payout } = listed;
  const { end_to_end_id: endToEndId, failure_reason: failure } = payout;
  return html`<section class="panel"><h2>${payment.facts}</h2><dl>${fact(words.id, html`<code>${payout.id}</code>`)}
${fact(texts.platform.account, accountOf(listed, operator))}${fact(words.destination, payout.destination)}
${fact(texts.payments.description, payout.description)}${fact(texts.payments.createdAt, instant(payout.created_at, language))}
${fact(payment.paidAt, payout.paid_at === null ? null : instant(payout.paid_at, language))}
${fact(payment.endToEndId, endToEndId === null ? null : html`<code>${endToEndId}</code>`)}
${fact(words.failure, failure === 'rejected' ? words.notApproved : failure)}</dl></section>`;
};

const onePage =
  (id: PayoutId, typed = '') =>
  async (operator: Operator): Promise<Content | Rejection> => {
    const { texts, platform, language, to } = operator;
    const found = await platform.showPayout(id);
    if (isRejection(found)) return found;
    const { payout } = found;
    return {
      title: `${texts.payouts.id}: ${formatAmount(payout.amount, payout.currency, language)}`,
      section: SECTION,
      main: html`<p class="under">${payoutBadge(payout, operator)}</p><div class="two"><div>${facts(found, operator)}</div><div>${payoutMoney(payout, operator)}${actions(found, typed, operator)}</div></div>
<p><a href="${to(SECTION)}">${texts.back}</a></p>`,
    };
  };

const AT = `${PLATFORM_PAGES}/payouts/{id}`;

const oneRoute = route('GET', AT, {
  ...showing,
  operationId: 'showPayoutReview',
  summary: 'Show a payout of any account, and what can be done with it',
  params: payoutParam,
  handle: (context) => shown(context, onePage(context.params.id)),
});

const reviewRoute = (verb: 'approve' | 'reject', summary: string) =>
  route('POST', `${AT}/${verb}`, {
    ...acting,
    operationId: `${verb}PayoutReviewFromPage`,
    summary,
    params: payoutParam,
    errors: ['role_required'],
    handle: (context) => {
      const { id } = context.params;
      const reason = context.body.text('reason');
      const verdict: Review =
        verb === 'approve' ? { verdict: 'approved' } : { verdict: 'rejected', reason: reason === '' ? null : reason };
      const act = async ({ platform, actor, caller, texts }: Operator) =>
        reason === '' || isReason(reason)
          ? platform.reviewPayoutOfAny(id, verdict, { ...actor, userId: caller.userId })
          : said(texts.platform.badReason);
      const place = `${SECTION}/${PAYOUT.idPrefix}${id}`;
      return acted(context, {
        ...{ act, place },
        done: verb === 'approve' ? 'approved' : 'rejected',
        page: onePage(id, reason),
      });
    },
  });

export const PAYOUT_REVIEW_PAGES = [
  listRoute,
  oneRoute,
  reviewRoute('approve', 'Approve a payout of any account'),
  reviewRoute('reject', 'Reject a payout of any account'),
];
