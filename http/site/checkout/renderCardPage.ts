// The page behind the sandbox's `cardRedirectUrl`. It asks for no card; the merchant decides how the payment ends (rules P3, X2).

import { type CardInstrument, lastExpiry } from '../../../domain/charge/instruments.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { html, type Markup } from '../html.ts';
import { ownDueLine } from './due.ts';
import { soleMethod } from './methodSections.ts';
import { isLive, pageState } from './states.ts';
import { statusPage } from './statusPage.ts';
import { type CheckoutView, pagePath } from './view.ts';

interface CardPageView extends CheckoutView {
  readonly card: CardInstrument;
}

const routes = (rawId: string): Markup => {
  const path = `POST /v1/sandbox/payments/${PAYMENT.idPrefix}${rawId}`;
  return html`<h3>Para desenvolvedores</h3>
<p class="hint">Aprove ou recuse este pagamento com a chave de teste da loja:</p>
<code class="code" translate="no">${path}/authorize</code>
<code class="code" translate="no">${path}/refuse</code>
`;
};

const notice = html`<p class="hint"><b>Nada é cobrado aqui.</b> Esta página simula a página segura em que o cartão seria informado. Ela não pede dados de cartão: não informe os seus.</p>
`;

const otherWay = ({ rawId, instruments: { pix, acquirerInstruments } }: CardPageView): Markup | null =>
  pix === null && acquirerInstruments.length === 1
    ? null
    : html`<p class="links"><a class="button second" href="${pagePath(rawId)}">Pagar de outra forma</a></p>\n`;

const wayBack = (returnUrl: string): Markup =>
  html`<p class="links"><a class="button second" href="${returnUrl}" rel="noreferrer">Voltar à loja</a></p>\n`;

/** Returns the whole page as HTML. Throws RangeError if the amount is not an integer or a date is invalid. */
export const renderCardPage = (view: CardPageView): string => {
  const { card, instruments, rawId, status, now, returnUrl } = view;
  const { method, expiresAt } = card;
  const body = html`${notice}${routes(rawId)}${ownDueLine(method, expiresAt)}`;
  const isPending = pageState(status, lastExpiry(instruments), now) === 'pending';
  return statusPage(view, {
    heading: 'Pagamento com cartão de crédito',
    pay: isPending
      ? html`<section class="methods" data-pay aria-label="Pagamento com cartão de crédito">
${soleMethod({ method, expiresAt, now, body })}${otherWay(view)}</section>
`
      : null,
    // After the payment has ended, the panel links to the shop instead.
    after: returnUrl !== null && isLive(status) ? wayBack(returnUrl) : null,
  });
};
