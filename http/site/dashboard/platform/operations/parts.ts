// Parts of several operators' pages: accounts, durations, and pages that reload while work is running.
import type { Mode } from '../../../../../domain/kernel/ids.ts';
import type { Language } from '../../../../../domain/presentation/amount.ts';
import { matching } from '../../../../kernel/query.ts';
import { html, type Markup } from '../../../html.ts';
import { tagOf } from '../../format.ts';
import { pageQuery } from '../../page.ts';
import type { Operator } from '../page.ts';
import { accountLink } from '../parts.ts';

/** The maximum number of rows in a list. */
export const LISTED_MAX = 100;

/** A link to an account; a dash without one. */
export const accountCell = (accountId: string | null, mode: string | null, operator: Operator): Markup =>
  accountId === null ? html`${operator.texts.none}` : accountLink(accountId, mode as Mode | null, operator);

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Returns a time in whole days, hours, minutes or seconds, at least two of the unit except for seconds. */
export const durationText = (seconds: number, language: Language): string => {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? (['second', 1] as const);
  const format = new Intl.NumberFormat(tagOf(language), { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.floor(seconds / size));
};

export const progressBar = (share: number, label: string, language: Language): Markup => {
  const percent = Math.floor(Math.min(1, Math.max(0, share)) * 100);
  const text = new Intl.NumberFormat(tagOf(language), { style: 'percent' }).format(percent / 100);
  return html`<progress max="100" value="${percent}" aria-label="${label}"></progress> ${text}`;
};

const RELOAD_SECONDS = 3;

/** The query of a page that reloads while work is running. */
export const stillQuery = {
  ...pageQuery,
  still: matching('Whether the page does not reload by itself.', '1', (text) => text),
} as const;

/** Says that the page reloads, and links to the page that doesn't. */
export const reloadNote = (path: string, { texts, to }: Operator): Markup =>
  html`<p class="muted small">${texts.operations.reloads} <a href="${to(path)}?still=1">${texts.operations.stopReloading}</a></p>`;

/** Returns the page with a header by which browsers reload it, without scripts and without repeating the result of the last action. */
export const reloading = <Shown extends { readonly headers: Readonly<Record<string, string>> }>(
  shown: Shown,
  path: string,
): Shown => ({ ...shown, headers: { ...shown.headers, Refresh: `${RELOAD_SECONDS}; url=${path}` } });
