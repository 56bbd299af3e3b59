// /dashboard/{mode}/payouts/{id}: one payout, followed to its end; cancel, approve and reject.

import { PREFIX } from '../../../../domain/kernel/ids.ts';
import { isRejection } from '../../../../domain/kernel/rejection.ts';
import { NO_PAYOUT } from '../../../../domain/payout/decisions.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import type { PayoutView } from '../../../../domain/presentation/payout.ts';
import { REASON_MAX } from '../../../api/payouts/payoutSchema.ts';
import { findShown, payoutParam, receiptOf, reviewOf } from '../../../api/payouts/payouts.ts';
import { DEFAULT_FAILURE, decidePayout } from '../../../api/payouts/sandboxPayouts.ts';
import { FORM, type RouteContext, route } from '../../../kernel/route.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import {
  modeParam,
  ofMember,
  PAGE,
  type Person,
  pageQuery,
  REDIRECT,
  type Reader,
  readerOf,
  redirect,
  shownPage,
  unlessManager,
} from '../page.ts';
import { actionForm, fact } from '../parts.ts';
import type { DoneAction } from '../texts/texts.ts';
import { payoutBadge, rawIdOf } from './list.ts';

const onePayout = { ...modeParam, ...payoutParam };

const facts = (payout: PayoutView, { texts, language, to }: Reader): Markup => {
  const { payouts: words, payment } = texts;
  const { charge_id: chargeId, end_to_end_id: endToEndId, failure_reason: failure } = payout;
  return html`<section class="panel"><h2>${payment.facts}</h2><dl>
${fact(words.id, html`<code>${payout.id}</code>`)}
${fact(words.destination, payout.destination)}
${fact(texts.payments.description, payout.description)}
${fact(texts.payments.createdAt, instant(payout.created_at, language))}
${fact(payment.paidAt, payout.paid_at === null ? null : instant(payout.paid_at, language))}
${fact(payment.endToEndId, endToEndId === null ? null : html`<code>${endToEndId}</code>`)}
${fact(words.failure, failure === 'rejected' ? words.notApproved : failure)}
${fact(words.ofRefund, chargeId === null ? null : html`<a href="${to(`/payments/${chargeId.slice(PREFIX.charge.length)}`)}">${texts.disputes.seePayment}</a>`)}</dl></section>`;
};

export const payoutMoney = ({ amount, fee, currency }: PayoutView, { texts, language }: Person): Markup => {
  const line = (label: string, value: number): Markup | null => fact(label, formatAmount(value, currency, language));
  return html`<section class="panel"><h2>${texts.payment.money}</h2><dl class="amounts">${line(texts.payments.amount, amount)}${line(texts.payouts.fee, fee)}${line(texts.wallet.total, amount + fee)}</dl></section>`;
};

const actions = (payout: PayoutView, typed: string, reader: Reader): Markup => {
  const { texts, mayManage } = reader;
  const { payouts: words } = texts;
  const path = `/payouts/${rawIdOf(payout)}`;
  const panel = (content: Markup): Markup =>
    html`<section class="panel actions"><h2>${texts.payment.actions}</h2>${content}</section>`;
  if (!mayManage) return panel(html`<p class="muted">${words.onlyManagers}</p>`);
  const review = payout.awaiting_approval
    ? html`<p class="muted">${words.reviewLead}</p>${actionForm(`${path}/approve`, reader, html`<button>${words.approve}</button>`)}
${actionForm(`${path}/reject`, reader, html`<label>${words.rejectReason} (${texts.create.optional})<input name="reason" value="${typed}" maxlength="${REASON_MAX}"></label><button class="danger">${words.reject}</button>`)}`
    : html`<p class="muted">${words.notWaiting}</p>`;
  const cancel =
    payout.status === 'pending' && payout.refund_id === null
      ? actionForm(
          `${path}/cancel`,
          reader,
          html`<p class="muted">${words.cancelLead}</p><button class="danger">${words.cancel}</button>`,
        )
      : html`<p class="muted">${words.cannotCancel}</p>`;
  return panel(html`${review}${cancel}`);
};

const receipt = (payout: PayoutView, { texts, to }: Reader): Markup =>
  html`<section class="panel"><h2>${texts.payment.receipt}</h2>${
    payout.paid_at === null
      ? html`<p class="muted">${texts.payouts.noReceipt}</p>`
      : html`<p><a href="${to(`/payouts/${rawIdOf(payout)}/receipt.pdf`)}">${texts.payouts.receipt}</a></p>`
  }</section>`;

/** In test mode, the bank's decision. */
const sandbox = (payout: PayoutView, reader: Reader): Markup | null => {
  const { texts, mode, mayManage } = reader;
  const { payouts: words, payment } = texts;
  if (mode !== 'test' || !mayManage) return null;
  const isUnderWay = !payout.awaiting_approval && (payout.status === 'pending' || payout.status === 'processing');
  return html`<section class="panel"><h2>${payment.sandbox}</h2><p class="muted">${payment.sandboxLead}</p>${
    isUnderWay
      ? actionForm(
          `/payouts/${rawIdOf(payout)}/decide`,
          reader,
          html`<p class="row"><button class="second" name="as" value="paid">${payment.bankPays}</button><button class="second" name="as" value="failed">${payment.bankFails}</button></p>`,
        )
      : html`<p class="muted">${payout.awaiting_approval ? words.waitsFirst : words.alreadyDecided}</p>`
  }</section>`;
};

const payoutPage = (payout: PayoutView, reader: Reader, typed = '') => ({
  title: `${reader.texts.payouts.id}: ${formatAmount(payout.amount, payout.currency, reader.language)}`,
  section: '/payouts',
  main: html`<p class="under">${payoutBadge(payout, reader)} ${
    payout.status === 'pending' || payout.status === 'processing'
      ? html`<a href="${reader.to(`/payouts/${rawIdOf(payout)}`)}">${reader.texts.payouts.refresh}</a>`
      : null
  }</p>
<div class="two"><div>${facts(payout, reader)}</div><div>${payoutMoney(payout, reader)}${actions(payout, typed, reader)}${receipt(payout, reader)}${sandbox(payout, reader)}</div></div>`,
});

const payoutPageRoute = route('GET', '/dashboard/{mode}/payouts/{id}', {
  ...ofMember,
  operationId: 'showPayoutPage',
  summary: 'Show one payout, and what can be done with it',
  params: onePayout,
  query: pageQuery,
  reads: ['payouts'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { services, asCaller: caller } = reader;
    const payout = await findShown({ services, caller }, context.params.id);
    return payout === null ? NO_PAYOUT : shownPage(200, context, reader, payoutPage(payout, reader));
  },
});

const acting = {
  ...ofMember,
  params: onePayout,
  query: pageQuery,
  refusalOf: unlessManager,
  reads: ['payouts'],
  body: FORM,
  responses: { 303: REDIRECT, 422: PAGE },
} as const;
type Acting = RouteContext<'member', typeof onePayout, typeof pageQuery, typeof FORM>;

/** Performs the action and redirects to the payout. A rejection is shown on the payout's page. */
const acted = async (context: Acting, done: DoneAction, act: (reader: Reader) => Promise<unknown>) => {
  const reader = readerOf(context);
  const { services, asCaller: caller, to } = reader;
  // Reviews find payouts of both modes; the page shows those of one mode.
  const payout = await findShown({ services, caller }, context.params.id);
  if (payout === null) return NO_PAYOUT;
  const outcome = await act(reader);
  if (!isRejection(outcome)) return redirect(to(`/payouts/${context.params.id}`), done);
  const page = payoutPage(payout, reader, context.body.text('reason'));
  return shownPage(422, context, reader, { ...page, problem: outcome });
};

const cancelRoute = route('POST', '/dashboard/{mode}/payouts/{id}/cancel', {
  ...acting,
  operationId: 'cancelPayoutFromPage',
  summary: 'Cancel a payout',
  handle: (context) =>
    acted(context, 'payoutCancelled', ({ services, tenant, actor }) =>
      services.cancelPayout(tenant, context.params.id, actor),
    ),
});

const approveRoute = route('POST', '/dashboard/{mode}/payouts/{id}/approve', {
  ...acting,
  operationId: 'approvePayoutFromPage',
  summary: 'Approve a payout',
  handle: (context) => acted(context, 'approved', () => reviewOf(context, { verdict: 'approved' })),
});

const rejectRoute = route('POST', '/dashboard/{mode}/payouts/{id}/reject', {
  ...acting,
  operationId: 'rejectPayoutFromPage',
  summary: 'Reject a payout',
  handle: (context) =>
    acted(context, 'rejected', () => {
      const reason = [...context.body.text('reason')].slice(0, REASON_MAX).join('');
      return reviewOf(context, { verdict: 'rejected', reason: reason === '' ? null : reason });
    }),
});

const decideRoute = route('POST', '/dashboard/{mode}/payouts/{id}/decide', {
  ...acting,
  operationId: 'decidePayoutFromPage',
  summary: 'Simulate the bank’s decision on a payout, in test mode',
  handle: (context) =>
    context.params.mode === 'test'
      ? acted(context, 'decided', ({ asCaller: caller }) =>
          decidePayout({ ...context, caller }, context.body.text('as') === 'failed' ? DEFAULT_FAILURE : null),
        )
      : Promise.resolve(NO_PAYOUT),
});

const receiptRoute = route('GET', '/dashboard/{mode}/payouts/{id}/receipt.pdf', {
  ...ofMember,
  operationId: 'downloadPayoutReceipt',
  summary: 'Download the receipt of a payout',
  params: onePayout,
  reads: ['payouts'],
  responses: { 200: { kind: 'bytes', description: 'The receipt.', contentTypes: ['application/pdf'] } },
  handle: async (context) => {
    const { asCaller: caller } = readerOf({ ...context, query: {} });
    const pdf = await receiptOf({ ...context, caller });
    return isRejection(pdf) ? pdf : { status: 200, contentType: 'application/pdf', bytes: pdf };
  },
});

export const PAYOUT_PAGES = [receiptRoute, decideRoute, payoutPageRoute, cancelRoute, approveRoute, rejectRoute];
