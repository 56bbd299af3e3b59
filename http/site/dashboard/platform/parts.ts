// Parts of several operators' pages.
import type { Mode } from '../../../../domain/kernel/ids.ts';
import { html, type Markup } from '../../html.ts';
import type { Content, Person } from '../page.ts';
import { options } from '../parts.ts';
import { copied } from '../secret.ts';
import { tableOf } from '../tables.ts';

export const REASON_MAX = 500;

/** Returns whether the text is valid as the reason of a decision. Only browsers limit its length. */
export const isReason = (typed: string): boolean => typed !== '' && typed.length <= REASON_MAX;

/** The input for a decision's reason. */
export const reasonInput = (typed: string, { texts: { platform } }: Pick<Person, 'texts'>): Markup =>
  html`<label>${platform.reason}<input name="reason" value="${typed}" maxlength="${REASON_MAX}" autocomplete="off" required><span class="muted small">${platform.reasonHint}</span></label>`;

/** A link to an account. `id`: `acct_…` */
export const accountLink = (id: string, mode: Mode | null, { texts, to }: Pick<Person, 'texts' | 'to'>): Markup =>
  html`<a href="${to(`/accounts/${id}`)}"><code>${id}</code></a>${mode === null ? null : html` <span class="muted small">${texts.mode[mode]}</span>`}`;

/** A list, or `empty` without rows. A truncated list says so. */
export const listOf = (
  label: string,
  heads: readonly string[],
  rows: readonly Markup[],
  empty: string,
  total: number,
  { texts: { platform } }: Pick<Person, 'texts'>,
): Markup => {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`${tableOf(label, heads, rows)}${total > rows.length ? html`<p class="muted small">${platform.cut(rows.length, total)}</p>` : null}`;
};

/**
 * Links to the first page and to the next one. `next`: the last entry of this page, or null on the last page. `lead` precedes the links.
 */
export const pager = (
  path: string,
  param: string,
  isFirst: boolean,
  next: string | null,
  { texts: { platform } }: Pick<Person, 'texts'>,
  lead: Markup | null = null,
): Markup => {
  const { first, next: following } = platform.accounts;
  return html`<p class="row pager">${lead}${isFirst ? null : html`<a href="${path}">${first}</a>`}${next === null ? null : html`<a href="${path}?${param}=${next}" rel="next">${following}</a>`}</p>`;
};

/** A page that shows secrets once and links to `place`. */
export const secretsPage = (
  title: string,
  secrets: readonly (readonly [label: string, secret: string])[],
  { section, place }: { readonly section: string; readonly place: string },
  { texts, to }: Pick<Person, 'texts' | 'to'>,
): Content => ({
  title,
  section,
  main: html`<section class="panel"><p class="notice good" role="status">${texts.shownOnce}</p><dl>${secrets.map(
    ([label, secret]) => html`<div><dt>${label}</dt><dd>${copied(secret, { texts })}</dd></div>`,
  )}</dl></section><p><a class="button second" href="${to(place)}">${texts.goOn}</a></p>`,
});

/** A form with one button and its explanation. */
export const simpleForm = (action: string, lead: string, button: Markup, { csrf }: Pick<Person, 'csrf'>): Markup =>
  html`<form method="post" action="${action}" class="action">${csrf}<p class="muted">${lead}</p>${button}</form>`;

/** A field of a form. `hint`: null for none. */
export const field = (
  name: string,
  label: string,
  value: string,
  hint: string | null,
  more: Markup | null = null,
): Markup =>
  html`<label>${label}<input name="${name}" value="${value}" autocomplete="off">${more}${hint === null ? null : html`<span class="muted small">${hint}</span>`}</label>`;

/** A form that searches for one object by a text. */
export const finder = (label: string, sought: string, hint: string, button: string): Markup =>
  html`<form method="get" class="filters"><label class="wide">${label}<input name="q" value="${sought}" placeholder="${hint}" autocomplete="off"></label><button class="second">${button}</button></form>`;

/** A choice of several values. */
export const choice = <Value extends string>(
  name: string,
  label: string,
  values: readonly (readonly [Value, string])[],
  chosen: Value | null,
): Markup => html`<label>${label}<select name="${name}">${options(values, chosen)}</select></label>`;

/** A form in a row of a list, which resolves it with a reason. */
export const resolveForm = (action: string, { texts: { platform }, csrf }: Pick<Person, 'texts' | 'csrf'>): Markup =>
  html`<form method="post" action="${action}" class="inline">${csrf}
<input name="reason" maxlength="${REASON_MAX}" aria-label="${platform.reason}" placeholder="${platform.reason}" autocomplete="off" required><button class="second">${platform.resolve}</button></form>`;
