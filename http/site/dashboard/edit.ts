// Forms that change existing values. Such a form also sends the values that it showed, so that only what the user edited is changed. A page
// that was opened a while ago must not undo what others have changed since.
import { randomUUID } from 'node:crypto';
import type { Form } from '../../kernel/forms.ts';
import { html, type Markup } from '../html.ts';

/** The values of a form's fields, as text. */
export type Values<Name extends string> = { readonly [N in Name]?: string };

const SHOWN = 'shown.';

/** The hidden fields that tell `editOf` which values the form showed. */
export const shownValues = (values: Values<string>): Markup =>
  html`${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${SHOWN}${name}" value="${value ?? ''}">`)}`;

const SEEN = 'seen';
/** The hidden field of a form that acts once: the version of what the user saw. */
export const seenField = (version: string): Markup => html`<input type="hidden" name="${SEEN}" value="${version}">`;
/** Returns the version that the user saw; null if it was not sent. */
export const seenIn = (form: Form): string | null => form.all(SEEN)[0] ?? null;

const KEY = 'key';
const IS_KEY = /^[\w-]{8,128}$/;
/** The hidden field of a form that creates something once. `sent`: the key that was sent, if the form is shown again. */
export const keyField = (sent: string | null = null): Markup =>
  html`<input type="hidden" name="${KEY}" value="${sent ?? randomUUID()}">`;
/** Returns the key of the form; null if none was sent. */
export const keyIn = (form: Form): string | null => (IS_KEY.test(form.text(KEY)) ? form.text(KEY) : null);

export interface Edit<Name extends string> {
  /** The values to change. */
  readonly edited: Values<Name>;
  /** Fields that both the user and somebody else have changed since the page was shown. They are not in `edited`. */
  readonly contested: readonly Name[];
}

/** Browsers send line breaks as CRLF. */
const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim();

/**
 * Compares the typed values with those that the form showed and with the present ones. A field whose shown value was not sent counts as
 * edited if it differs from the present value.
 */
export const editOf = <Name extends string>(form: Form, typed: Values<Name>, present: Values<Name>): Edit<Name> => {
  const edited: { [N in Name]?: string } = {};
  const contested: Name[] = [];
  for (const name of Object.keys(present) as Name[]) {
    const value = plain(typed[name] ?? present[name] ?? '');
    const now = plain(present[name] ?? '');
    const shown = plain(form.all(SHOWN + name)[0] ?? now);
    if (value === shown || value === now) continue;
    if (shown === now) edited[name] = value;
    else contested.push(name);
  }
  return { edited, contested };
};
