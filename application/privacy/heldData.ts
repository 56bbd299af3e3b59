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
      : text.toLowerCase().includes(person.email.toLowerCase()),
  );
