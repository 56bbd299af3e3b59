// The hosted checkout at /pay/<raw> (rules I6, I7, I8).
import { type Instruments, lastExpiry } from '../../../domain/charge/instruments.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { html, type Markup } from '../html.ts';
import { methodInSentence } from '../methodNames.ts';
import { dueLine } from './due.ts';
import { methodsSection } from './methodSections.ts';
import { pixPayment } from './pixSection.ts';
import { pageState } from './states.ts';
import { statusPage } from './statusPage.ts';
import { type CheckoutView, pagePath } from './view.ts';

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
