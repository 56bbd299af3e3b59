// The webhooks sent for a payment, with their attempts.
import type { EventChapter, PaymentHistory } from '../../../../application/audit/paymentStory.ts';
import { readStreamName } from '../../../../domain/kernel/aggregate.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { tableOf } from '../tables.ts';

export const webhooksPanel = ({ chapters, waiting }: PaymentHistory, { texts, language, to }: Reader): Markup => {
  const { webhooks } = texts;
  const attempts = chapters.filter(
    (one): one is EventChapter & Required<Pick<EventChapter, 'webhook'>> => one.webhook !== undefined,
  );
  const tried = [...Map.groupBy(attempts, ({ stream }) => stream)].map(([stream, all]) => {
    const last = all.at(-1) as (typeof all)[number];
    return html`<tr><th scope="row"><a href="${to(`/webhooks/deliveries/${readStreamName(stream).id}`)}">${last.webhook.eventType}</a></th><td class="wide">${last.words[language]}<br>
<span class="muted small">${instant(last.at, language)}</span></td></tr>`;
  });
  const untried = waiting.map(
    ({ eventType }) => html`<tr><th scope="row">${eventType}</th><td>${texts.deliveryStatuses.PENDING}</td></tr>`,
  );
  const rows = [...untried, ...tried.toReversed()];
  return html`<section class="panel"><h2>${texts.pages.webhooks}</h2>${
    rows.length === 0
      ? html`<p class="empty">${webhooks.noneOfPayment}</p>`
      : tableOf(webhooks.deliveries, [webhooks.event, webhooks.lastAnswer], rows)
  }</section>`;
};
