// The hosted checkout: what the payer sees at /pay/<raw> (decisions I6, I7).
import { formatAmount } from './amount.ts';
import { html, type Markup } from './html.ts';
import { ICON } from './icons.ts';
import { layout } from './layout.ts';
import { type CheckoutStatus, isLive, pageState, stateHeading, statePanel, stateTemplates } from './states.ts';

export interface CheckoutView {
  /** Raw id of the payment, the capability in the page's address. */
  readonly rawId: string;
  /** Minor units, a safe integer ≥ 0. */
  readonly amount: number;
  /** ISO 4217 code. */
  readonly currency: string;
  readonly status: CheckoutStatus;
  /** EMV copy-and-paste code; null when the payment has no Pix instrument. */
  readonly brCode: string | null;
  /** ISO instant, or null when nothing falls due. */
  readonly expiresAt: string | null;
  /** ISO instant of the account's clock, which in test mode may be ahead of the wall clock. */
  readonly now: string;
  readonly testMode: boolean;
}

const DEADLINE = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** The date is shown beside the countdown, so that the page also says when to pay where no script runs. */
const dueLine = (expiresAt: string): Markup => html`<p class="due"><span class="clock" role="timer" data-clock></span>
<span>Pague até <time datetime="${expiresAt}">${DEADLINE.format(new Date(expiresAt))}</time> (horário de Brasília)</span></p>`;

const STEPS = [
  'Abra o app do seu banco e entre na área Pix.',
  'Escolha Pix copia e cola e cole o código, ou leia o QR Code.',
  'Confira o valor e quem recebe, e confirme o pagamento.',
];

const paySection = (base: string, brCode: string, amount: string, expiresAt: string | null): Markup =>
  html`<section class="pay" data-pay aria-label="Pagar com Pix">
<div class="scan"><img src="${base}/qr.png" width="240" height="240" alt="QR Code Pix para pagar ${amount}">
${expiresAt === null ? null : dueLine(expiresAt)}</div>
<div class="paste"><h2>Pix copia e cola</h2>
<button type="button" class="scripted" data-copy><span class="idle">${ICON.copy}Copiar código</span><span class="done">${ICON.check}Código copiado</span></button>
<code class="code" translate="no" data-code>${brCode}</code>
<p class="note" role="status" data-note data-done="Código copiado. Agora cole no app do seu banco." data-failed="Não foi possível copiar. O código está selecionado: copie pelo menu do aparelho."></p>
<h2>Como pagar</h2>
<ol>${STEPS.map((step) => html`<li>${step}</li>`)}</ol></div>
</section>
`;

const watchNotes = html`
<p class="note" role="status" data-offline hidden>Sem conexão. Tentando de novo…</p>
<noscript><p class="note">Para ver se o pagamento foi confirmado, recarregue esta página.</p></noscript>`;

/**
 * The whole page, as HTML. Pure. Every value is escaped. The QR image and the code are there only while they can be paid;
 * a page whose status is final carries no script at all.
 * Throws RangeError for an amount that is no integer or a date that is none.
 */
export const renderCheckout = (view: CheckoutView): string => {
  const { status, brCode, expiresAt, now } = view;
  const state = pageState(status, brCode, expiresAt, now);
  const amount = formatAmount(view.amount, view.currency);
  const base = `/pay/${encodeURIComponent(view.rawId.toWellFormed())}`;
  const live = isLive(status);
  const watch = html` data-live="${status}" data-base="${base}" data-now="${now}" data-expires-at="${expiresAt ?? ''}"`;
  const payable = state === 'pending' && brCode !== null;
  return layout({
    title: `${stateHeading(state)} · ${amount}`,
    testMode: view.testMode,
    script: live,
    attributes: html` data-state="${state}"${live ? watch : null}`,
    main: html`<div class="summary"><h1>${brCode === null ? 'Pagamento' : 'Pagamento com Pix'}</h1>
<p class="amount${amount.length > 13 ? ' long' : ''}">${amount}</p>
<div class="panel" role="status" tabindex="-1" data-panel>${statePanel(state)}</div>${live ? watchNotes : null}</div>
${payable ? paySection(base, brCode, amount, expiresAt) : null}${live ? stateTemplates() : null}`,
    footnote: html`Pagamento processado pela Quita. Identificador: <span class="id">${view.rawId}</span>`,
  });
};
