// CPF and CNPJ, the tax ids of people and companies, with the alphanumeric CNPJ issued since July 2026 (pix.md, Ids).

const CPF = /^[0-9]{11}$/;
const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;
// Each separator is optional, may be of several kinds where people write several, and may have a space on either side.
const MASKED_CPF = /^ *([0-9]{3}) ?\.? ?([0-9]{3}) ?\.? ?([0-9]{3}) ?[-/.]? ?([0-9]{2}) *$/;
const MASKED_CNPJ =
  /^ *([0-9A-Za-z]{2}) ?\.? ?([0-9A-Za-z]{3}) ?\.? ?([0-9A-Za-z]{3}) ?[-/]? ?([0-9A-Za-z]{4}) ?[-/.]? ?([0-9]{2}) *$/;

const CPF_HEAVIEST = 11; // never reached: weights grow to the left over all 10 places
const CNPJ_HEAVIEST = 9;

/** The modulo-11 check digit of `body`: weights from 2 at the right up to `heaviest`, then from 2 again. */
const checkDigit = (body: string, heaviest: number): string => {
  let sum = 0;
  let weight = 2;
  for (let i = body.length - 1; i >= 0; i--) {
    sum += (body.charCodeAt(i) - 48) * weight; // Receita Federal: the value of a letter is its ASCII code − 48
    weight = weight === heaviest ? 2 : weight + 1;
  }
  const rest = sum % 11;
  return rest < 2 ? '0' : String(11 - rest);
};

const hasCheckDigits = (raw: string, heaviest: number): boolean => {
  const first = checkDigit(raw.slice(0, -2), heaviest);
  return raw.endsWith(first + checkDigit(raw.slice(0, -2) + first, heaviest));
};

const isOneCharacter = (raw: string): boolean => raw === raw.charAt(0).repeat(raw.length);

/** Exactly 11 ASCII digits, not all equal, with the right check digits. */
export const isCpf = (raw: string): boolean =>
  CPF.test(raw) && !isOneCharacter(raw) && hasCheckDigits(raw, CPF_HEAVIEST);

/** Exactly 12 of `[0-9A-Z]` and 2 digits, not all equal, with the right check digits. */
export const isCnpj = (raw: string): boolean =>
  CNPJ.test(raw) && !isOneCharacter(raw) && hasCheckDigits(raw, CNPJ_HEAVIEST);

/** What `expected_payer_tax_id` must be (rule E3): a bare valid CPF or CNPJ, upper case, no mask. */
export const isStrictTaxId = (raw: string): boolean => isCpf(raw) || isCnpj(raw);

/**
 * The bare, upper-case, valid CPF or CNPJ in `text`, which may be masked (`123.456.789-09`, `12.ABC.345/01DE-35`, spaces
 * instead of or around the marks, lower-case letters); null when there is none (rule E3, `customer.document`).
 */
export const taxIdOf = (text: string): string | null => {
  const raw = (MASKED_CPF.exec(text) ?? MASKED_CNPJ.exec(text))?.slice(1).join('').toUpperCase();
  return raw !== undefined && isStrictTaxId(raw) ? raw : null;
};

/** What people and banks write between the digits and letters. Anything else, such as the `*` of a mask, stands for one of them. */
const SEPARATORS = /[\s./_,\p{Dash_Punctuation}]/gu;

/**
 * The bare, upper-case, valid CPF or CNPJ of a payer as a bank names it, compared by digits and letters alone; null when it names none:
 * empty, masked (`***.456.789-**`), or with wrong check digits (rule M5).
 */
export const payerTaxIdOf = (document: string | null): string | null => {
  const bare = document?.replaceAll(SEPARATORS, '').toUpperCase() ?? '';
  return isStrictTaxId(bare) ? bare : null;
};

/** How documents of any kind are compared: by their digits and letters, whatever the mask (E3, E6). null: there are none. */
export const documentKeyOf = (document: string): string | null =>
  document.replaceAll(/[^0-9A-Za-z]/g, '').toUpperCase() || null;
