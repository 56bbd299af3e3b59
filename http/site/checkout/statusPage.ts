// A page with the amount and status of a payment. It follows the status while it can change.
import { lastExpiry } from '../../../domain/charge/instruments.ts';
import { formatAmount } from '../../../domain/presentation/amount.ts';
import { html, type Markup } from '../html.ts';
import { layout } from './layout.ts';
import { isLive, type PanelFacts, pageState, stateHeading, statePanel, stateTemplates } from './states.ts';
import { type CheckoutView, pagePath } from './view.ts';

interface Parts {
  readonly heading: string;
  /** Payment instructions in an element with `data-pay`, or null if not payable. Removed once the payment is no longer pending. */
  readonly pay: Markup | null;
  /** Shown in every status. */
  readonly after: Markup | null;
}

const watchNotes = html`
<p class="note" role="status" data-offline hidden>Sem conexão. Tentando de novo…</p>
<noscript><p class="note">Para ver se o pagamento foi confirmado, recarregue esta página.</p></noscript>`;

const panelFacts = (view: CheckoutView, amount: string): PanelFacts => ({
  isPixOnly: view.instruments.acquirerInstruments.length === 0,
  refundedPart: view.refunded > 0 ? `${formatAmount(view.refunded, view.currency, 'pt')} de ${amount}` : null,
  returnUrl: view.returnUrl,
  receiptPath: `${pagePath(view.rawId)}/receipt.pdf`,
});

export const statusPage = (view: CheckoutView, { heading, pay, after }: Parts): string => {
  const { status, instruments, now, merchantName, description } = view;
  const expiresAt = lastExpiry(instruments);
  const state = pageState(status, expiresAt, now);
  const amount = formatAmount(view.amount, view.currency, 'pt');
  const live = isLive(status);
  const facts = panelFacts(view, amount);
  const watch = html` data-live="${status}" data-base="${pagePath(view.rawId)}" data-now="${now}" data-expires-at="${expiresAt ?? ''}"`;
  return layout({
    title: `${stateHeading(state, facts)} · ${amount}`,
    testMode: view.testMode,
    script: live,
    methods: !facts.isPixOnly,
    attributes: html` data-state="${state}"${live ? watch : null}`,
    brand: view,
    main: html`<div class="summary"><h1>${heading}</h1>
<p class="amount${amount.length > 13 ? ' long' : ''}">${amount}</p>
<p class="receiver">para <b>${merchantName}</b></p>
${description === null ? null : html`<p class="description">${description}</p>\n`}<div class="panel" role="status" tabindex="-1" data-panel>${statePanel(state, facts, false)}</div>${live ? watchNotes : null}</div>
${pay}${after}${live ? stateTemplates(facts) : null}`,
    footnote: html`Pagamento processado pela Quita. Identificador: <span class="id">${view.rawId}</span>`,
  });
};
