// The webhooks sent for a payment.
import type { PaymentHistory } from '../../../../application/audit/paymentStory.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { tableOf } from '../tables.ts';
import { deliveryBadge } from '../webhooks/table.ts';

export const webhooksPanel = (all: PaymentHistory['webhooks'], reader: Reader): Markup => {
  const { texts, to, language, mayManage } = reader;
  const { webhooks: words } = texts;
  const rows = all.map(
    ({ id, eventType, status, attempts, lastStatusCode, scheduledAt }) =>
      html`<tr><th scope="row"><a href="${to(`/webhooks/deliveries/${id}`)}">${eventType}</a><br>
<span class="muted small">${instant(scheduledAt, language)}</span></th><td>${deliveryBadge(status, reader)}</td><td>${attempts}</td><td>${lastStatusCode ?? texts.none}</td></tr>`,
  );
  const heads = [words.event, texts.payments.status, words.attempts, words.lastAnswer];
  const create = mayManage ? html` <a href="${to('/webhooks/endpoints/new')}">${words.create}</a>` : null;
  const none = html`<p class="empty">${words.noneOfPayment}${create}</p>`;
  return html`<section class="panel"><h2>${texts.pages.webhooks}</h2>${
    rows.length === 0 ? none : tableOf(words.deliveries, heads, rows)
  }</section>`;
};
