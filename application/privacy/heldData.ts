// The data about a person in a state: exactly the data that an erasure would remove from it (rule L1).
import { spellingsOf } from '../../domain/pix/taxId.ts';
import type { Person } from '../ports/personalData.ts';

/** A tree of the removed values, with the keys of the state. Lists keep their places. */
export type HeldData = { readonly [key: string]: unknown };

const isTree = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null;

/** Returns the values of `before` that differ, or undefined if none do. */
const removed = (before: unknown, after: unknown): unknown => {
  if (!isTree(before)) return before === after ? undefined : before;
  const kept: { readonly [key: string]: unknown } = isTree(after) ? after : {};
  const entries = Object.entries(before).flatMap(([key, value]) => {
    const part = removed(value, kept[key]);
    return part === undefined || part === null ? [] : [[key, part] as const];
  });
  if (entries.length === 0) return undefined;
  return Array.isArray(before) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
};

/** Returns the personal data in a state, given the state without it. */
export const heldData = (state: object, erased: object): HeldData => (removed(state, erased) ?? {}) as HeldData;

/** Returns all texts and numbers in the data, and its keys: those of metadata are texts of the merchant. */
const textsOf = (data: unknown): readonly string[] => {
  if (typeof data === 'string') return [data];
  if (typeof data === 'number') return [String(data)];
  return isTree(data) ? [...Object.keys(data), ...Object.values(data).flatMap(textsOf)] : [];
};

/**
 * The start of a longer local part, at the end of a text. RFC 5322 allows more characters, but before an address they are those of URLs
 * and markup. An apostrophe after a letter is part of a name (o'hara@); otherwise it quotes the address.
 */
const IN_LOCAL_PART = /(?:[\p{L}\p{M}\p{N}.%&+_-]|[\p{L}\p{M}]['’])$/u;
/** The rest of a longer host name, at the start of a text. A full stop may also end a sentence. */
const IN_HOST = /^(?:[\p{L}\p{M}\p{N}-]|\.[\p{L}\p{N}])/u;

/** Returns the text in one case and one of Unicode's normal forms. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase();

/** Returns whether the text contains the address, and not only as part of a longer one. */
const hasEmail = (text: string, email: string): boolean => {
  for (let at = text.indexOf(email); at >= 0; at = text.indexOf(email, at + 1)) {
    const end = at + email.length;
    // Three units, because the letter before an apostrophe may be a pair of surrogates.
    if (!IN_LOCAL_PART.test(text.slice(Math.max(at - 3, 0), at)) && !IN_HOST.test(text.slice(end, end + 3)))
      return true;
  }
  return false;
};

/** Returns an expression that matches the tax id, but not as part of a longer number. */
export const documentIn = (document: string): RegExp => new RegExp(`(?<![0-9])${spellingsOf(document)}(?![0-9])`, 'i');

/** Returns whether personal data mentions the person. */
export const concerns = (data: HeldData, person: Person): boolean =>
  textsOf(data).some((text) =>
    'document' in person ? documentIn(person.document).test(text) : hasEmail(folded(text), folded(person.email)),
  );
