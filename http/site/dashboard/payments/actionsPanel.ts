// The actions possible on a payment now, and the reasons why others are not.
import { randomUUID } from 'node:crypto';
import { isRejection, type Rejection } from '../../../../domain/kernel/rejection.ts';
import { notCancellable } from '../../../../domain/payment/cancel.ts';
import type { ExistingPayment } from '../../../../domain/payment/payment.ts';
import { notResendable } from '../../../../domain/payment/resend.ts';
import { formatAmount } from '../../../../domain/presentation/amount.ts';
import { publicStatus } from '../../../../domain/presentation/status.ts';
import { refundableRest } from '../../../../domain/transaction/refunds.ts';
import { html, type Markup } from '../../html.ts';
import type { Reader } from '../page.ts';
import { actionForm } from '../parts.ts';
import { refusalText } from '../texts/refusals.ts';
import { CARD_ACTS, OPEN_ACTS } from './acts.ts';

const impossible = (action: string, why: string): Markup =>
  html`<p class="muted"><strong>${action}</strong>: ${why}</p>`;

const refunding = (payment: ExistingPayment, quote: object | Rejection, reader: Reader): Markup => {
  const { texts, language } = reader;
  const { payment: words } = texts;
  const { paymentId, currency } = payment.charge.terms;
  // While a full refund is in progress, nothing remains to refund.
  const left = payment.transaction.status === 'settled' ? refundableRest(payment.transaction) : null;
  if (left === 0) return impossible(words.refund, words.cannotRefund);
  if (left === null || isRejection(quote))
    return impossible(words.refund, isRejection(quote) ? refusalText(quote, language, currency) : words.cannotRefund);
  const rest = formatAmount(left, currency, language);
  return actionForm(
    `/payments/${paymentId}/refund`,
    reader,
    html`<input type="hidden" name="key" value="${randomUUID()}"><p class="muted">${words.refundLead(rest)}</p>
<label>${words.refundAmount}<input name="amount" inputmode="decimal" value="${rest.replace(/^\S+ /, '')}" required></label><button name="step" value="preview">${words.refund}</button>`,
  );
};

const ordinary = (payment: ExistingPayment, reader: Reader): Markup => {
  const { texts, language } = reader;
  const { payment: words } = texts;
  const { paymentId } = payment.charge.terms;
  const path = `/payments/${paymentId}`;
  const [noCancel, noResend] = [notCancellable(payment), notResendable(payment)];
  const status = publicStatus(payment);
  return html`${
    noCancel === null
      ? actionForm(
          `${path}/cancel`,
          reader,
          html`<p class="muted">${words.cancelLead}</p><button class="danger">${words.cancel}</button>`,
        )
      : impossible(words.cancel, refusalText(noCancel, language))
  }
${
  noResend === null
    ? actionForm(
        `${path}/resend`,
        reader,
        html`<p class="muted">${words.resendLead}</p><button class="second">${words.resend}</button>`,
      )
    : impossible(words.resend, refusalText(noResend, language))
}
${payment.transaction.status === 'settled' ? html`<p><a href="/pay/${paymentId}/receipt.pdf">${words.receipt}</a></p>` : impossible(words.receipt, words.noReceipt)}
${status === 'pending' ? null : impossible(words.openCheckout, words.noCheckout(texts.statuses[status]))}`;
};

/** In test mode, simulates payers, banks and acquirers. */
const sandbox = (payment: ExistingPayment, reader: Reader): Markup => {
  const { texts, to } = reader;
  const { payment: words } = texts;
  const { charge, transaction } = payment;
  const { paymentId, methods } = charge.terms;
  const path = `/payments/${paymentId}`;
  const isOpen = transaction.status !== 'settled' && notCancellable(payment) === null;
  const pix = methods.includes('PIX')
    ? isOpen && charge.instruments.pix !== null
      ? actionForm(
          `${path}/pay`,
          reader,
          html`<p class="row"><button name="as" value="exact">${words.pay}</button><button class="second" name="as" value="wrong">${words.payWrong}</button><button class="second" name="as" value="other">${words.payOther}</button></p>`,
        )
      : impossible(words.pay, words.notOpen)
    : null;
  const act = (acts: readonly (typeof OPEN_ACTS | typeof CARD_ACTS)[number][]): Markup =>
    actionForm(
      `${path}/act`,
      reader,
      html`<p class="row">${acts.map((one) => html`<button class="second" name="as" value="${one}">${words.acts[one]}</button>`)}</p>`,
    );
  const others = methods.some((method) => method !== 'PIX') && isOpen ? act(OPEN_ACTS) : null;
  const isCard = transaction.status === 'settled' && transaction.settlement.method === 'CREDIT_CARD';
  const canDispute = transaction.status === 'settled' && refundableRest(transaction) > 0;
  const dispute = !canDispute
    ? impossible(texts.disputes.simulateOpen, words.notDisputable)
    : isCard
      ? act(CARD_ACTS)
      : actionForm(`${path}/dispute`, reader, html`<button class="second">${texts.disputes.simulateOpen}</button>`);
  return html`<h3>${words.sandbox}</h3><p class="muted">${words.sandboxLead} <a href="${to('/sandbox')}">${texts.sandbox.move}</a></p>${pix}${others}${dispute}`;
};

/** `quote`: a refund of the whole remaining amount as it would be reserved, or its rejection. */
export const actionsPanel = (payment: ExistingPayment, quote: object | Rejection, reader: Reader): Markup => {
  const { texts, mayChange, mode } = reader;
  const { payment: words } = texts;
  if (!mayChange)
    return html`<section class="panel"><h2>${words.actions}</h2><p class="muted">${words.mayNot}</p></section>`;
  return html`<section class="panel actions"><h2>${words.actions}</h2>
${refunding(payment, quote, reader)}${ordinary(payment, reader)}${mode === 'test' ? sandbox(payment, reader) : null}</section>`;
};
