// Parts of several pages.
import type { ListedUser } from '../../../application/ports/readModels/views.ts';
import { html, type Markup } from '../html.ts';
import type { Person } from './page.ts';

/** A state as a badge. `look`: `good`, `busy` or `bad`, or a status that has a look of its own; without one it is plain. */
export const badge = (words: string | number, look = ''): Markup => html`<span class="status ${look}">${words}</span>`;

/** The state of a user: invited until a password is set. */
export const userBadge = (
  { status, hasPassword }: Pick<ListedUser, 'status' | 'hasPassword'>,
  { texts }: Pick<Person, 'texts'>,
): Markup => {
  if (status === 'disabled') return badge(texts.userStatuses.disabled);
  return hasPassword ? badge(texts.userStatuses.active, 'good') : badge(texts.userStatuses.invited, 'busy');
};

/** A part of a page that follows changes while the page is open. */
export const livePart = (name: string, content: Markup): Markup => html`<div data-part="${name}">${content}</div>`;

/** Makes the page's live parts follow the stream. `version`: the version of the payments shown. */
export const liveFrom = (path: string, version: string, { to }: Pick<Person, 'to'>): Markup =>
  html`<span hidden data-live="${to(path)}" data-part="live" data-version="${version}"></span>`;

/** A line in a list of facts, or null without a value. */
export const fact = (label: string, value: Markup | string | null): Markup | null =>
  value === null ? null : html`<div><dt>${label}</dt><dd>${value}</dd></div>`;

/** A form that performs an action. `path` is below the mode or the platform. */
export const actionForm = (path: string, { csrf, to }: Pick<Person, 'csrf' | 'to'>, content: Markup): Markup =>
  html`<form method="post" action="${to(path)}" class="action">${csrf}${content}</form>`;

/** A form that resends a user's invitation. `path`: the target of the form that sent the first one. */
export const inviteAgain = (
  { email, role }: Pick<ListedUser, 'email' | 'role'>,
  path: string,
  words: string,
  { csrf }: Pick<Person, 'csrf'>,
): Markup =>
  html`<form method="post" action="${path}">${csrf}<input type="hidden" name="email" value="${email}"><input type="hidden" name="role" value="${role}"><button class="second">${words}</button></form>`;

/** The options of a select field. */
export const options = (
  values: Iterable<readonly [value: string, label: string]>,
  chosen: string | null | undefined,
): readonly Markup[] =>
  Array.from(values, ([value, label]) =>
    value === chosen
      ? html`<option value="${value}" selected>${label}</option>`
      : html`<option value="${value}">${label}</option>`,
  );

/** The choices of a filter; the first one is all. */
export const statusOptions = <Status extends string>(
  all: readonly Status[],
  chosen: Status | undefined,
  labels: { readonly [S in Status]: string },
  { texts }: Pick<Person, 'texts'>,
): Markup =>
  html`<option value="">${texts.all}</option>${options(
    all.map((one) => [one, labels[one]]),
    chosen,
  )}`;
