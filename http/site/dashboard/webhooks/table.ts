// A table of deliveries, for the list and for one endpoint.
import type { DeliveryStatus, deliveryView } from '../../../../domain/presentation/delivery.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { badge } from '../parts.ts';
import { tableOf } from '../tables.ts';

export const deliveryBadge = (status: DeliveryStatus, { texts }: Reader): Markup =>
  badge(texts.deliveryStatuses[status], status.toLowerCase());

export const deliveriesTable = (rows: readonly ReturnType<typeof deliveryView>[], reader: Reader): Markup => {
  const { texts, to, language } = reader;
  const { webhooks } = texts;
  if (rows.length === 0) return html`<p class="empty">${webhooks.noDeliveries}</p>`;
  const page = (id: string): string => to(`/webhooks/deliveries/${id.slice(WEBHOOK_DELIVERY.idPrefix.length)}`);
  return tableOf(
    webhooks.deliveries,
    [webhooks.event, texts.payments.status, webhooks.attempts, webhooks.lastAnswer, webhooks.scheduledAt],
    rows.map(
      (
        one,
      ) => html`<tr><th scope="row"><a href="${page(one.id)}">${one.eventType}</a></th><td>${deliveryBadge(one.status, reader)}</td>
<td>${one.attempts}</td><td>${one.lastStatusCode ?? one.lastError ?? texts.none}</td><td>${instant(one.createdAt, language)}</td></tr>`,
    ),
  );
};
