// /dashboard/{mode}/payments/{id}: one payment, its money and history, and its possible actions.
import type { EventChapter } from '../../../../application/audit/paymentStory.ts';
import { NO_PAYMENT } from '../../../../application/payments/ownPayment.ts';
import type { RefundView } from '../../../../application/ports/readModels/views.ts';
import { MED_CASE } from '../../../../domain/dispute/aggregate.ts';
import { PREFIX } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { chargeView } from '../../../../domain/presentation/charge.ts';
import { publicStatus } from '../../../../domain/presentation/status.ts';
import { transactionView } from '../../../../domain/presentation/transaction.ts';
import { paymentParam } from '../../../api/payments/payment.ts';
import { route } from '../../../kernel/route.ts';
import { assertShown } from '../../../kernel/upToDate.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import { modeParam, ofMember, PAGE, pageQuery, type Reader, readerOf, shownPage } from '../page.ts';
import { fact, liveFrom, livePart } from '../parts.ts';
import { copied } from '../secret.ts';
import { tableOf } from '../tables.ts';
import { actionsPanel } from './actionsPanel.ts';
import { ledgerPanel, moneyPanel } from './moneyPanel.ts';
import { statusBadge } from './table.ts';
import { webhooksPanel } from './webhooksPanel.ts';

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

/** The link, code and QR image with which the customer pays; null unless pending. */
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

const dispute = ({ transaction }: ExistingPayment, { texts, to }: Reader): Markup | null =>
  transaction.status !== 'settled' || transaction.dispute === null
    ? null
    : html`<section class="panel"><h2>${texts.disputes.one}</h2><p><a href="${to(`/disputes/${transaction.dispute.caseId}`)}">${
        transaction.dispute.moneyOutcome === null
          ? `${MED_CASE.idPrefix}${transaction.dispute.caseId}`
          : texts.moneyOutcomes[transaction.dispute.moneyOutcome]
      }</a></p></section>`;

/** In test mode, the bank's decision on a pending refund. */
const bankDecision = (path: string, { texts, csrf, to, mode, mayChange }: Reader): Markup | null =>
  mode !== 'test' || !mayChange
    ? null
    : html`<form method="post" class="row" action="${to(path)}">${csrf}<button class="second" name="as" value="paid">${texts.payment.bankPays}</button>
<button class="second" name="as" value="failed">${texts.payment.bankFails}</button></form>`;

const refunds = (payment: ExistingPayment, all: readonly RefundView[], reader: Reader): Markup | null => {
  const { texts, language } = reader;
  const at = `/payments/${payment.charge.terms.paymentId}/refunds`;
  if (all.length === 0) return null;
  const rows = all.map(({ id, amount, currency, status, createdAt, failureReason }) => {
    const isUnderWay = status === 'PENDING' || status === 'IN_PROGRESS';
    return html`<tr><th scope="row">${formatAmount(amount, currency, language)}</th><td class="wide">${texts.refundStatuses[status]}${failureReason === null ? null : html`<br>${failureReason}`}<br>
<span class="muted small">${instant(createdAt, language)}</span>${isUnderWay ? bankDecision(`${at}/${id}/decide`, reader) : null}</td></tr>`;
  });
  return html`<section class="panel"><h2>${texts.payment.refunds}</h2>${tableOf(texts.payment.refunds, [texts.payments.amount, texts.payments.status], rows)}</section>`;
};

/** Returns who caused an event, without ids that mean nothing to a reader. */
const causer = (actor: string, { texts }: Reader): string => {
  const [kind = ''] = actor.split(':');
  if (kind === 'key' || kind === 'user') return texts.actor[kind];
  return kind === 'provider' ? texts.actor.bank : texts.actor.quita;
};

/** Links to the request that caused an event. Operators' requests are not in the account's log. */
const request = ({ actor, requestId }: EventChapter, { texts, to }: Reader): Markup | null =>
  requestId === null || !/^(?:key|user):/.test(actor)
    ? null
    : html` · <a href="${to('/developers/requests')}?${new URLSearchParams({ request: requestId }).toString()}">${texts.payment.itsRequest}</a>`;

const story = (chapters: readonly EventChapter[], reader: Reader): Markup => {
  const { texts, language } = reader;
  return html`<section class="panel"><h2>${texts.payment.story}</h2><ol class="story">${chapters.map(
    (chapter) =>
      html`<li><p>${chapter.words[language]}</p>
<p class="muted small">${instant(chapter.at, language)} · ${texts.payment.by} ${causer(chapter.actor, reader)}${request(chapter, reader)}</p></li>`,
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
    const rest = {
      account: reader.caller.account,
      mode: reader.mode,
      paymentId: id,
      body: { idempotencyKey: 'a quote' },
    };
    const [history, all, quote] = await Promise.all([
      services.paymentHistory(tenant, id),
      services.views.refunds.list(tenant, id),
      services.quoteRefund(rest),
    ]);
    const { amount, currency } = payment.charge.terms;
    const status = publicStatus(payment);
    return shownPage(200, context, reader, {
      title: formatAmount(amount, currency, language),
      section: '/payments',
      main: html`${liveFrom(`/payments/${id}/events`, version, reader)}${livePart('status', html`<p class="under">${statusBadge(status, reader)} <code>${PREFIX.charge}${id}</code></p>`)}
<div class="two">${livePart(
        'payment',
        html`${link(payment, reader)}${facts(payment, reader)}
${ledgerPanel(history.chapters, reader)}${webhooksPanel(history.webhooks, reader)}${story(history.chapters, reader)}`,
      )}
<div>${livePart('money', html`${moneyPanel(payment, history.chapters, reader)}${dispute(payment, reader)}`)}
${livePart('actions', actionsPanel(payment, quote, reader))}${livePart('refunds', html`${refunds(payment, all ?? [], reader)}`)}</div></div>`,
    });
  },
});
