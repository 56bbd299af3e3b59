// Amounts and instants for readers of the dashboard: civil time of São Paulo, with UTC on hover.
import { DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import type { Language } from '../../../domain/presentation/amount.ts';
import { html, type Markup } from '../html.ts';
import { LANGUAGE_TAG } from '../language.ts';

const timeZone = 'America/Sao_Paulo';
const formats = (options: Intl.DateTimeFormatOptions): { readonly [L in Language]: Intl.DateTimeFormat } => ({
  pt: new Intl.DateTimeFormat('pt-BR', { timeZone, ...options }),
  en: new Intl.DateTimeFormat('en-GB', { timeZone, ...options }),
});
const MINUTE = formats({ day: '2-digit', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
/** Civil days have no zone. */
const DAY = {
  pt: new Intl.DateTimeFormat('pt-BR', { timeZone: 'UTC', day: '2-digit', month: 'short' }),
  en: new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: '2-digit', month: 'short' }),
};

export const minuteText = (at: string, language: Language): string => MINUTE[language].format(new Date(at));
/** `day`: `yyyy-mm-dd`. */
export const dayText = (day: string, language: Language): string => DAY[language].format(new Date(`${day}T00:00:00Z`));

/** Returns the instant to the minute. Its title is the instant in UTC. */
export const instant = (at: string | null, language: Language): Markup =>
  at === null
    ? html`–`
    : html`<time datetime="${at}" title="${at.slice(0, 19).replace('T', ' ')} UTC">${minuteText(at, language)}</time>`;

const RELATIVE = {
  pt: new Intl.RelativeTimeFormat('pt-BR', { numeric: 'always' }),
  en: new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' }),
};
/** Returns whole days (from two on), hours (from two on) or minutes until then, such as `in 2 days`; null if it has passed. */
export const leftText = (until: Timestamp, now: Timestamp, language: Language): string | null => {
  const left = toMillis(until) - toMillis(now);
  if (left < 0) return null;
  if (left >= 2 * DAY_MS) return RELATIVE[language].format(Math.floor(left / DAY_MS), 'day');
  if (left >= 2 * HOUR_MS) return RELATIVE[language].format(Math.floor(left / HOUR_MS), 'hour');
  return RELATIVE[language].format(Math.floor(left / MINUTE_MS), 'minute');
};

/** The tag of a language, for the attribute `lang`. */
export const tagOf = (language: Language): string => LANGUAGE_TAG[language];
