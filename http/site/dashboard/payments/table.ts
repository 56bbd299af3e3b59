// A table of payments, for the list and the overview.
import { PREFIX } from '../../../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { type PublicStatus, publicStatus } from '../../../../domain/presentation/status.ts';
import { html, type Markup } from '../../html.ts';
import { instant } from '../format.ts';
import type { Reader } from '../page.ts';
import { badge } from '../parts.ts';
import type { Texts } from '../texts/texts.ts';

export const statusBadge = (status: PublicStatus, { texts }: Pick<Reader, 'texts'>): Markup =>
  badge(texts.statuses[status], status);

/** Returns the method that paid; before payment, the accepted methods. */
export const methodsText = ({ charge, transaction }: ExistingPayment, { methods }: Pick<Texts, 'methods'>): string =>
  (transaction.status === 'settled' ? [transaction.settlement.method] : charge.terms.methods)
    .map((method) => methods[method])
    .join(', ');

const row = (payment: ExistingPayment, reader: Reader): Markup => {
  const { terms } = payment.charge;
  const { amount, currency, customer, createdAt, paymentId } = terms;
  const { language, texts, to } = reader;
  const description = terms.metadata['description'];
  const shown = customer.name ?? (typeof description === 'string' ? description : PREFIX.charge + paymentId);
  return html`<tr><th scope="row"><a href="${to(`/payments/${paymentId}`)}">${formatAmount(amount, currency, language)}</a></th>
<td>${statusBadge(publicStatus(payment), reader)}</td>
<td class="wide">${shown}</td>
<td>${methodsText(payment, texts)}</td>
<td>${instant(createdAt, language)}</td></tr>`;
};

export const paymentsTable = (payments: readonly ExistingPayment[], reader: Reader): Markup => {
  const { payments: texts } = reader.texts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.caption}"><table><caption class="hidden">${texts.caption}</caption>
<thead><tr><th scope="col">${texts.amount}</th><th scope="col">${texts.status}</th><th scope="col">${texts.customer}</th>
<th scope="col">${texts.method}</th><th scope="col">${texts.createdAt}</th></tr></thead>
<tbody>${payments.map((payment) => row(payment, reader))}</tbody></table></div>`;
};
