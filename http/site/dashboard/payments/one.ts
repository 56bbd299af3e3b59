// /dashboard/{mode}/payments/{id}: one payment, its money and history, and what can be done with it now.
import { randomUUID } from 'node:crypto';
import type { EventChapter, PaymentHistory } from '../../../../application/audit/paymentStory.ts';
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import type { RefundView } from '../../../../application/ports/readModels/views.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import { PREFIX } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { notCancellable } from '../../../../domain/payment/cancel.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { chargeView } from '../../../../domain/presentation/charge.ts';
import { publicStatus } from '../../../../domain/presentation/status.ts';
import { transactionView } from '../../../../domain/presentation/transaction.ts';
import { refundableRest } from '../../../../domain/transaction/refunds.ts';
import { paymentParam } from '../../../api/payments/payment.ts';
import { route } from '../../../kernel/route.ts';
import { assertShown } from '../../../kernel/upToDate.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { actionForm, fact, liveFrom, livePart } from '../parts.ts';
import { copied } from '../secret.ts';
import { tableOf } from '../tables.ts';
import { deliveryBadge } from '../webhooks/table.ts';
import { statusBadge } from './table.ts';

export const onePayment = { ...modeParam, ...paymentParam };

const facts = (payment: ExistingPayment, reader: Reader): Markup => {
  const { texts, language } = reader;
  const { payment: words } = texts;
  const [charge, transaction] = [chargeView(payment), transactionView(payment)];
  const { end_to_end_id: endToEndId = null } = charge.settlement;
  return html`<section class="panel"><h2>${words.facts}</h2><dl>
${fact(words.id, copied(charge.id, reader))}
${fact(words.transaction, html`<code>${PAYMENT.idPrefix}${transaction.id}</code>`)}
${fact(words.endToEndId, endToEndId === null ? null : html`<code>${endToEndId}</code>`)}
${fact(words.txid, charge.pix === undefined ? null : html`<code>${charge.pix.txid}</code>`)}
${fact(texts.payments.createdAt, instant(transaction.createdAt, language))}
${fact(words.expiresAt, charge.pix === undefined ? null : instant(charge.pix.expires_at, language))}
${fact(words.paidAt, transaction.paidAt === null ? null : instant(transaction.paidAt, language))}
${fact(words.payer, transaction.customerName)}
${fact(words.document, transaction.customerDocument)}
${fact(words.email, transaction.customerEmail)}
${Object.entries(charge.metadata).map(([key, value]) => fact(key === 'description' ? texts.payments.description : key, typeof value === 'string' ? value : JSON.stringify(value)) as Markup)}</dl></section>`;
};

const money = (payment: ExistingPayment, { texts, language }: Reader): Markup => {
  const { payment: words } = texts;
  const { amount, currency, providerFee, platformFee, netAmount, amountRefunded } = transactionView(payment);
  const line = (label: string, value: number | null): Markup | null =>
    fact(label, value === null ? null : formatAmount(value, currency, language));
  return html`<section class="panel"><h2>${words.money}</h2><dl class="amounts">
${line(texts.payments.amount, amount)}${line(words.providerFee, providerFee === null ? null : -providerFee)}
${line(words.platformFee, platformFee === null ? null : -platformFee)}${line(words.net, netAmount)}
${amountRefunded === 0 ? null : line(words.refunded, -amountRefunded)}</dl></section>`;
};

/** What the customer needs to pay. */
const link = (payment: ExistingPayment, reader: Reader): Markup | null => {
  const { payment: words } = reader.texts;
  const { checkout_url: url, pix, status } = chargeView(payment);
  if (status !== 'pending') return null;
  const path = `/pay/${payment.charge.terms.paymentId}`;
  return html`<section class="panel link"><div><h2>${words.link}</h2><p class="muted">${words.linkLead}</p><p>${copied(url, reader)}</p>
${pix === undefined ? null : html`<p class="muted">${words.pixCode}</p><p>${copied(pix.br_code, reader)}</p>`}
<p><a class="button second" href="${path}" target="_blank" rel="noopener">${words.openCheckout}</a></p></div>
${pix === undefined ? null : html`<img src="${path}/qr.png" alt="${words.qrCode}" width="180" height="180">`}</section>`;
};

const actions = (payment: ExistingPayment, reader: Reader): Markup => {
  const { texts, mayChange, language, mode } = reader;
  const { payment: words } = texts;
  const { paymentId, currency } = payment.charge.terms;
  const path = `/payments/${paymentId}`;
  if (!mayChange)
    return html`<section class="panel"><h2>${words.actions}</h2><p class="muted">${words.mayNot}</p></section>`;
  const rest = payment.transaction.status === 'settled' ? refundableRest(payment.transaction) : 0;
  const isOpen = notCancellable(payment) === null;
  return html`<section class="panel actions"><h2>${words.actions}</h2>
${
  rest === 0
    ? html`<p class="muted">${words.cannotRefund}</p>`
    : actionForm(
        `${path}/refund`,
        reader,
        html`<input type="hidden" name="key" value="${randomUUID()}"><p class="muted">${words.refundLead(formatAmount(rest, currency, language))}</p>
<label>${words.refundAmount}<input name="amount" inputmode="decimal" value="${formatAmount(rest, currency, language).replace(/^\S+ /, '')}" required></label><button>${words.refund}</button>`,
      )
}
${
  isOpen
    ? actionForm(
        `${path}/cancel`,
        reader,
        html`<p class="muted">${words.cancelLead}</p><button class="danger">${words.cancel}</button>`,
      )
    : html`<p class="muted">${words.cannotCancel}</p>`
}
${actionForm(`${path}/resend`, reader, html`<p class="muted">${words.resendLead}</p><button class="second">${words.resend}</button>`)}
${payment.transaction.status === 'settled' ? html`<p><a href="/pay/${paymentId}/receipt.pdf">${words.receipt}</a></p>` : null}
${
  mode === 'test' && isOpen && payment.charge.instruments.pix !== null
    ? html`<h3>${words.sandbox}</h3><p class="muted">${words.sandboxLead}</p>${actionForm(
        `${path}/pay`,
        reader,
        html`<p class="row"><button name="as" value="exact">${words.pay}</button><button class="second" name="as" value="wrong">${words.payWrong}</button><button class="second" name="as" value="other">${words.payOther}</button></p>`,
      )}`
    : null
}
${mode === 'test' && rest > 0 ? actionForm(`${path}/dispute`, reader, html`<h3>${words.sandbox}</h3><p class="muted">${words.sandboxLead}</p><button class="second">${texts.disputes.simulateOpen}</button>`) : null}</section>`;
};

const dispute = ({ transaction }: ExistingPayment, { texts, to }: Reader): Markup | null =>
  transaction.status !== 'settled' || transaction.dispute === null
    ? null
    : html`<section class="panel"><h2>${texts.disputes.one}</h2><p><a href="${to(`/disputes/${transaction.dispute.caseId}`)}">${
        transaction.dispute.moneyOutcome === null
          ? `${MED_CASE.idPrefix}${transaction.dispute.caseId}`
          : texts.moneyOutcomes[transaction.dispute.moneyOutcome]
      }</a></p></section>`;

const refunds = (all: readonly RefundView[], { texts, language }: Reader): Markup | null =>
  all.length === 0
    ? null
    : html`<section class="panel"><h2>${texts.payment.refunds}</h2><div class="scroll" tabindex="0" role="region" aria-label="${texts.payment.refunds}"><table><tbody>${all.map(
        ({ amount, currency, status, createdAt }) =>
          html`<tr><th scope="row">${formatAmount(amount, currency, language)}</th><td>${texts.refundStatuses[status]}<br><span class="muted small">${instant(createdAt, language)}</span></td></tr>`,
      )}</tbody></table></div></section>`;

/** Who caused an event, without an id that tells a reader nothing. */
const causer = (actor: string, { texts }: Reader): string => {
  const [kind = ''] = actor.split(':');
  if (kind === 'key' || kind === 'user') return texts.actor[kind];
  return kind === 'provider' ? texts.actor.bank : texts.actor.quita;
};

const webhooks = (all: PaymentHistory['webhooks'], reader: Reader): Markup | null => {
  const { texts, to, language } = reader;
  const { webhooks: words } = texts;
  if (all.length === 0) return null;
  return html`<section class="panel"><h2>${texts.pages.webhooks}</h2>${tableOf(
    words.deliveries,
    [words.event, texts.payments.status, words.attempts, words.lastAnswer, words.scheduledAt],
    all.map(
      ({ id, eventType, status, attempts, lastStatusCode, scheduledAt }) =>
        html`<tr><th scope="row"><a href="${to(`/webhooks/deliveries/${id}`)}">${eventType}</a></th><td>${deliveryBadge(status, reader)}</td>
<td>${attempts}</td><td>${lastStatusCode ?? texts.none}</td><td>${instant(scheduledAt, language)}</td></tr>`,
    ),
  )}</section>`;
};

const story = (chapters: readonly EventChapter[], reader: Reader): Markup => {
  const { texts, language } = reader;
  return html`<section class="panel"><h2>${texts.payment.story}</h2><ol class="story">${chapters.map(
    ({ at, words, actor }) =>
      html`<li><p>${words[language]}</p>
<p class="muted small">${instant(at, language)} · ${texts.payment.by} ${causer(actor, reader)}</p></li>`,
  )}</ol></section>`;
};

export const paymentRoute = route('GET', '/dashboard/{mode}/payments/{id}', {
  ...ofMember,
  operationId: 'showPayment',
  summary: 'Show one payment, and what can be done with it',
  params: onePayment,
  query: pageQuery,
  reads: ['payments', 'refunds', 'webhookDeliveries'],
  responses: { 200: PAGE },
  handle: async (context) => {
    const reader = readerOf(context);
    const { tenant, asCaller, services, language } = reader;
    const { id } = context.params;
    assertShown({ services, caller: asCaller }, id);
    const { payments, version } = await services.views.payments.watched({ tenant, paymentId: id });
    const [payment] = payments;
    if (payment === undefined) return NO_PAYMENT;
    const [history, all] = await Promise.all([
      services.paymentHistory(tenant, id),
      services.views.refunds.list(tenant, id),
    ]);
    const { amount, currency } = payment.charge.terms;
    const status = publicStatus(payment);
    return shownPage(200, context, reader, {
      title: formatAmount(amount, currency, language),
      section: '/payments',
      main: html`${liveFrom(`/payments/${id}/events`, version, reader)}${livePart('status', html`<p class="under">${statusBadge(status, reader)} <code>${PREFIX.charge}${id}</code></p>`)}
<div class="two">${livePart('payment', html`${link(payment, reader)}${facts(payment, reader)}${story(history.chapters, reader)}${webhooks(history.webhooks, reader)}`)}
<div>${livePart('money', html`${money(payment, reader)}${dispute(payment, reader)}`)}${livePart('actions', actions(payment, reader))}${livePart('refunds', html`${refunds(all ?? [], reader)}`)}</div></div>`,
    });
  },
});
