// The due date of a payment, with a countdown if scripts run.
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { brasiliaDay, brasiliaMinute } from '../brasiliaTime.ts';
import { html, type Markup } from '../html.ts';

const until = (expiresAt: string): Markup =>
  html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time> (horário de Brasília)</span>`;

/** The due line of a payment by Pix only. checkout.js counts down to the due time that the server sent last. */
export const dueLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-clock></span>
${until(expiresAt)}</p>`;

const clock = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<span class="clock" role="timer"${method === 'BOLETO' ? html` data-days` : null} data-clock="${expiresAt}"></span>`;

const dueDay = (expiresAt: string): Markup =>
  html`<span>Vence em <time datetime="${expiresAt}">${brasiliaDay(expiresAt)}</time></span>`;

/** The due line of a single method. A boleto shows only its day, as banks do. */
export const ownDueLine = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<p class="due">${clock(method, expiresAt)}
${method === 'BOLETO' ? dueDay(expiresAt) : until(expiresAt)}</p>
`;

/** The countdown of one of several methods. Its deadline is in the summary line, where all methods can be compared. */
export const countdown = (method: PaymentMethod, expiresAt: string): Markup =>
  html`<p class="due">${clock(method, expiresAt)}</p>
`;

/** The deadline of one of several methods. */
export const deadline = (method: PaymentMethod, expiresAt: string): Markup =>
  method === 'BOLETO'
    ? dueDay(expiresAt)
    : html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time></span>`;
