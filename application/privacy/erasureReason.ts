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
/** Digits of a mobile number without its country, and of a CPF. */
const NUMBER = 11;
/** A number with fewer digits: a landline of Brazil, or a phone of Portugal with its country. Other short ones may be orders. */
const SHORT_PHONE = /^(?:55)?[1-9]\d[2-5]\d{7}$|^351\d{9}$/;
/** Digits with anything but letters between them. They may belong to several numbers. */
const DIGITS = /\d(?:[^0-9A-Za-z]*\d)+/g;
/** Returns the email addresses and the digits of possible numbers in the free text of a bank or a merchant. */
const identifyingInText = (text: string): readonly string[] => [
  ...text.split(/\s/).filter((word) => word.includes('@')),
  ...(text.match(DIGITS) ?? []).map(digitsOf).flatMap(partsOf),
];
/** The country of a phone number of Brazil or Portugal (MB WAY). No CPF or CNPJ has as many digits. */
const COUNTRY = /^55(?=\d{10,11}$)|^351(?=\d{9}$)/;
const digitsOf = (text: string): string => text.replaceAll(/\D/g, '');
const partsOf = (digits: string): readonly string[] =>
  SHORT_PHONE.test(digits)
    ? [digits]
    : Array.from({ length: Math.max(0, digits.length - NUMBER + 1) }, (_, at) => digits.slice(at, at + NUMBER));

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

/** Returns a test of whether the reason contains a value. */
const containedIn = (reason: string): ((value: string) => boolean) => {
  const [ownWords, ownDigits] = [wordsOf(reason), digitsOf(reason)];
  return (value) => {
    // People write their phone without its country.
    const [words, digits] = [wordsOf(value), digitsOf(value).replace(COUNTRY, '')];
    return (
      (words.trim() !== '' && ownWords.includes(words)) || (digits.length >= LONG_NUMBER && ownDigits.includes(digits))
    );
  };
};

/** Returns why the reason can't be stored, or null. */
export const reasonProblem = (reason: string, subject: Subject, held: readonly Held[]): string | null => {
  if (reason === '' || reason.length > REASON_MAX) return `must have 1 to ${REASON_MAX} characters`;
  const names =
    (!isOwner(subject) && concerns({ reason }, subject)) ||
    identifyingIn(held.map((one) => [one.data, 'disputes' in one && one.disputes])).some(containedIn(reason));
  return names
    ? 'must not contain the person’s name, document, email address, phone or Pix key, because it is never erased'
    : null;
};
