// The reason of an erasure stays for ever, so it must not name the person (rule L3). It may use words of orders and metadata.
import { type Held, isOwner, type Subject } from './findPerson.ts';
import { concerns } from './heldData.ts';

const REASON_MAX = 500;
/** Fields of states whose values identify a person or a Pix key. */
const IDENTIFYING: ReadonlySet<string> = new Set([
  ...['name', 'document', 'email', 'phone'],
  ...['expectedPayerTaxId', 'destination', 'fileName'],
]);
/** Numbers this long are compared however they are punctuated. */
const LONG_NUMBER = 9;
/** Numbers as long as a document or a phone number. */
const NUMBERS = /\d(?:[-./ ]?\d){10,}/g;
/** Returns the email addresses and numbers in the free text of a bank or a merchant. */
const identifyingInText = (text: string): readonly string[] => [
  ...text.split(/\s/).filter((word) => word.includes('@')),
  ...(text.match(NUMBERS) ?? []),
];

/** Returns the identifying texts in the data. Metadata is the merchant's own words. */
const identifyingIn = (data: unknown, key = ''): readonly string[] => {
  if (typeof data === 'string') {
    if (key === 'reason') return identifyingInText(data);
    return IDENTIFYING.has(key) ? [data] : [];
  }
  if (typeof data !== 'object' || data === null || key === 'metadata') return [];
  return Object.entries(data).flatMap(([inner, value]) => identifyingIn(value, inner));
};

/** Returns the words in one spelling, each between spaces. */
const wordsOf = (text: string): string =>
  ` ${text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '');

const contains = (reason: string, value: string): boolean => {
  const [words, digits] = [wordsOf(value), digitsOf(value)];
  return (
    (words.trim() !== '' && wordsOf(reason).includes(words)) ||
    (digits.length >= LONG_NUMBER && digitsOf(reason).includes(digits))
  );
};

/** Returns why the reason can't be stored, or null. */
export const reasonProblem = (reason: string, subject: Subject, held: readonly Held[]): string | null => {
  if (reason === '' || reason.length > REASON_MAX) return `must have 1 to ${REASON_MAX} characters`;
  const names =
    (!isOwner(subject) && concerns({ reason }, subject)) ||
    identifyingIn(held.map((one) => [one.data, 'disputes' in one && one.disputes])).some((value) =>
      contains(reason, value),
    );
  return names
    ? 'must not contain the person’s name, document, email address, phone or Pix key, because it is never erased'
    : null;
};
