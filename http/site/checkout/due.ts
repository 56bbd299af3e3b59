// When to pay: a date, and a countdown where a script runs.
import { brasiliaDay, brasiliaMinute } from '../brasiliaTime.ts';
import { html, type Markup } from '../html.ts';

const until = (expiresAt: string): Markup =>
  html`<span>Pague até <time datetime="${expiresAt}">${brasiliaMinute(expiresAt)}</time> (horário de Brasília)</span>`;

/** Of the whole payment: checkout.js counts to the due time that the server tells last; `inDays`, where that is a boleto's. */
export const dueLine = (expiresAt: string, inDays = false): Markup =>
  html`<p class="due"><span class="clock" role="timer"${inDays ? html` data-days` : null} data-clock></span>
${until(expiresAt)}</p>`;

/** Of a boleto: the day alone counts, as banks count it. checkout.js counts the days. */
export const dueDayLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-days data-clock="${expiresAt}"></span>
<span>Vence em <time datetime="${expiresAt}">${brasiliaDay(expiresAt)}</time></span></p>
`;

/** Of one method. */
export const ownDueLine = (expiresAt: string): Markup =>
  html`<p class="due"><span class="clock" role="timer" data-clock="${expiresAt}"></span>
${until(expiresAt)}</p>
`;
