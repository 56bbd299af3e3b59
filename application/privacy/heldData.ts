// The data about a person in a state: exactly the data that its erasure would remove (rule L1).
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

/** Returns all texts and numbers in the data. */
const textsOf = (data: unknown): readonly string[] => {
  if (typeof data === 'string') return [data];
  if (typeof data === 'number') return [String(data)];
  return isTree(data) ? Object.values(data).flatMap(textsOf) : [];
};

/** Characters of other words and of the local parts of addresses (RFC 5322), at the end of a text. */
const IN_LOCAL_PART = /[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]$/u;
/** The rest of a longer host name, at the start of a text. A full stop may also end a sentence. */
const IN_HOST = /^(?:[\p{L}\p{M}\p{N}-]|\.[\p{L}\p{N}])/u;

/** Returns whether the text contains the address, and not only as part of a longer one. */
const hasEmail = (text: string, email: string): boolean => {
  for (let at = text.indexOf(email); at >= 0; at = text.indexOf(email, at + 1)) {
    const end = at + email.length;
    // Two units, because the character before may be a pair of surrogates.
    if (!IN_LOCAL_PART.test(text.slice(Math.max(at - 2, 0), at)) && !IN_HOST.test(text.slice(end, end + 3)))
      return true;
  }
  return false;
};

/** Longer runs of digits and letters are other numbers that contain these by chance. */
const SEPARATORS = /[./\-_, ]/g;
const isAlone = (text: string, part: string): boolean => {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const around = (text[at - 1] ?? ' ') + (text[at + part.length] ?? ' ');
    if (!/[0-9]/.test(around)) return true;
  }
  return false;
};

/** Returns whether personal data mentions the person. */
export const concerns = (data: HeldData, person: Person): boolean =>
  textsOf(data).some((text) =>
    'document' in person
      ? isAlone(text.replaceAll(SEPARATORS, '').toUpperCase(), person.document.toUpperCase())
      : hasEmail(text.toLowerCase(), person.email.toLowerCase()),
  );
