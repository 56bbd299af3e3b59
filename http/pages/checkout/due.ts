// When to pay: a date, and a countdown where a script runs.
import { brasiliaMinute } from '../brasiliaTime.ts';
import { html, type Markup } from './html.ts';

const until = (expiresAt: string): Markup =>
  html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time> (horário de Brasília)</span>`;

/** Of the whole payment: checkout.js counts to the due time that the server tells last. */
export const dueLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-clock></span>
${until(expiresAt)}</p>`;

/** Of one method. */
export const ownDueLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-clock="${expiresAt}"></span>
${until(expiresAt)}</p>
`;
