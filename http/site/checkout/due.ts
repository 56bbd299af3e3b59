// When to pay: a date, and a countdown where a script runs.
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { brasiliaDay, brasiliaMinute } from '../brasiliaTime.ts';
import { html, type Markup } from '../html.ts';

const until = (expiresAt: string): Markup =>
  html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time> (horário de Brasília)</span>`;

/** Of a payment by Pix alone: checkout.js counts to the due time that the server tells last. */
export const dueLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-clock></span>
${until(expiresAt)}</p>`;

const clock = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<span class="clock" role="timer"${method === 'BOLETO' ? html` data-days` : null} data-clock="${expiresAt}"></span>`;

const dueDay = (expiresAt: string): Markup =>
  html`<span>Vence em <time datetime="${expiresAt}">${brasiliaDay(expiresAt)}</time></span>`;

/** Of the only method, or the only one that the page is about. A boleto shows its day alone, as banks count it. */
export const ownDueLine = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<p class="due">${clock(method, expiresAt)}
${method === 'BOLETO' ? dueDay(expiresAt) : until(expiresAt)}</p>
`;

/** Of one of several methods: its countdown. The deadline stands in its summary, where all of them can be compared. */
export const countdown = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<p class="due">${clock(method, expiresAt)}</p>
`;

/** Of one of several methods: its deadline. */
export const deadline = (method: PaymentMethod, expiresAt: string): Markup =>
  method === 'BOLETO'
    ? dueDay(expiresAt)
    : html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time></span>`;
