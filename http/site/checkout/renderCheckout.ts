// The hosted checkout at /pay/<raw> (rules I6, I7, I8).
import { type CardInstrument, type Instruments, lastExpiry } from '../../../domain/charge/instruments.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';
import { methodInSentence } from '../methodNames.ts';
import { dueLine, ownDueLine } from './due.ts';
import { layout } from './layout.ts';
import { methodsSection, soleMethod } from './methodSections.ts';
import { pixPayment } from './pixSection.ts';
import { isLive, pageState } from './states.ts';
import { statusPage } from './statusPage.ts';
import { type CheckoutView, pagePath } from './view.ts';

/** Returns the body of a 404 under /pay. It contains nothing of the request and no reason. */
export const renderCheckoutNotFound = (): string =>
  layout({
    title: 'Cobrança não encontrada',
    testMode: false,
    script: false,
    methods: false,
    attributes: html` data-state="missing"`,
    brand: null,
    main: html`<div class="summary"><div class="panel"><span class="mark">${ICON.search}</span><h1>Cobrança não encontrada</h1>
<p>Confira se o endereço está completo ou peça um novo link à loja.</p></div></div>
`,
    footnote: html`Pagamentos processados pela Quita.`,
  });

// --- The page behind the sandbox's `cardRedirectUrl`. It asks for no card; the merchant decides how the payment ends (rules P3, X2). ---

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

const heading = ({ pix, acquirerInstruments }: Instruments): string => {
  const names = [...(pix ? (['PIX'] as const) : []), ...acquirerInstruments.map(({ method }) => method)];
  return names.length === 1 ? `Pagamento com ${methodInSentence(names[0]!)}` : 'Pagamento';
};

const paySection = (view: CheckoutView, amount: string, expiresAt: string): Markup => {
  const { instruments, now } = view;
  const base = pagePath(view.rawId);
  if (instruments.acquirerInstruments.length > 0)
    return methodsSection(instruments, { base, amount, now, payerLock: view.payerLock });
  return html`<section class="pay" data-pay aria-label="Pagar com Pix">
${pixPayment({ base, brCode: instruments.pix!.brCode, amount, due: dueLine(expiresAt), payerLock: view.payerLock })}</section>
`;
};

/**
 * Returns the whole page as HTML, with every value escaped. It contains payment instructions only while the payment is payable, and no
 * script if the status is final. Throws RangeError if the amount is not an integer or a date is invalid.
 */
export const renderCheckout = (view: CheckoutView): string => {
  const { instruments } = view;
  const expiresAt = lastExpiry(instruments);
  const amount = formatAmount(view.amount, view.currency, 'pt');
  const isPayable = expiresAt !== null && pageState(view.status, expiresAt, view.now) === 'pending';
  return statusPage(view, {
    heading: heading(instruments),
    pay: isPayable ? paySection(view, amount, expiresAt) : null,
    after: null,
  });
};
