// CPF and CNPJ, the tax ids of people and companies, with the alphanumeric CNPJ issued since July 2026 (pix.md, Ids).

const CPF = /^[0-9]{11}$/;
const CNPJ = /^[0-9A-Z]{12}[0-9]{2}$/;
// Separators are optional; people use several kinds, with spaces on either side.
const MASKED_CPF = /^ *([0-9]{3}) ?\.? ?([0-9]{3}) ?\.? ?([0-9]{3}) ?[-/.]? ?([0-9]{2}) *$/;
const MASKED_CNPJ =
  /^ *([0-9A-Za-z]{2}) ?\.? ?([0-9A-Za-z]{3}) ?\.? ?([0-9A-Za-z]{3}) ?[-/]? ?([0-9A-Za-z]{4}) ?[-/.]? ?([0-9]{2}) *$/;

const CPF_HEAVIEST = 11; // never exceeded: at most 10 digits of a CPF are weighted
const CNPJ_HEAVIEST = 9;

/** Returns the modulo-11 check digit of `body`. Weights run from 2 at the right to `heaviest`, then start again at 2. */
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

/** Returns whether the text is exactly 11 ASCII digits, not all equal, with valid check digits. */
export const isCpf = (raw: string): boolean =>
  CPF.test(raw) && !isOneCharacter(raw) && hasCheckDigits(raw, CPF_HEAVIEST);

/** Returns whether the text is exactly 12 of `[0-9A-Z]` and 2 digits, not all equal, with valid check digits. */
export const isCnpj = (raw: string): boolean =>
  CNPJ.test(raw) && !isOneCharacter(raw) && hasCheckDigits(raw, CNPJ_HEAVIEST);

/** Returns whether the text is a valid CPF or CNPJ in upper case without punctuation, as `expected_payer_tax_id` requires (E3). */
export const isStrictTaxId = (raw: string): boolean => isCpf(raw) || isCnpj(raw);

/**
 * Returns the valid CPF or CNPJ in `text`, in upper case without punctuation, or null if absent. The text may have punctuation,
 * spaces and lower-case letters: `123.456.789-09`, `12.ABC.345/01DE-35` (rule E3, `customer.document`).
 */
export const taxIdOf = (text: string): string | null => {
  const raw = (MASKED_CPF.exec(text) ?? MASKED_CNPJ.exec(text))?.slice(1).join('').toUpperCase();
  return raw !== undefined && isStrictTaxId(raw) ? raw : null;
};

/** Separators that people and banks use. Any other character, such as the `*` of a mask, replaces a digit or letter. */
const SEPARATORS = /[\s./_,\p{Dash_Punctuation}]/gu;

/**
 * Returns the valid CPF or CNPJ of a payer as reported by a bank, in upper case without punctuation. Returns null if the document is
 * empty, masked (`***.456.789-**`), or has invalid check digits (rule M5).
 */
export const payerTaxIdOf = (document: string | null): string | null => {
  const bare = document?.replaceAll(SEPARATORS, '').toUpperCase() ?? '';
  return isStrictTaxId(bare) ? bare : null;
};

/** Marks that hide a digit. No CPF has the letter X; a CNPJ may have it. */
const HIDDEN_IN_CPF = /[*•●·#?X]/u;
const HIDDEN_IN_CNPJ = /[*•●·#?]/u;
const VISIBLE = /[0-9A-Z]/;

/**
 * Returns whether a masked document of a payer (`***.456.789-**`) shows a digit or letter that contradicts the tax id. A document whose
 * length differs from the tax id's contradicts nothing, because its places are not known (V6).
 */
export const contradicts = (document: string | null, taxId: string): boolean => {
  const places = [...(document?.replaceAll(SEPARATORS, '').toUpperCase() ?? '')];
  const hidden = isCpf(taxId) ? HIDDEN_IN_CPF : HIDDEN_IN_CNPJ;
  const isMasked = places.some((place) => hidden.test(place));
  if (!isMasked || places.length !== taxId.length) return false;
  if (!places.every((place) => hidden.test(place) || VISIBLE.test(place))) return false;
  return places.some((place, i) => !hidden.test(place) && place !== taxId[i]);
};

const NOT_OF_KEY = /[^0-9A-Za-z]/g;

/** Returns the digits and letters of a document of any kind, for comparison (E3, E6), or null if it has neither. */
export const documentKeyOf = (document: string): string | null =>
  document.replaceAll(NOT_OF_KEY, '').toUpperCase() || null;

/**
 * Returns the source of a case-insensitive regular expression that matches every document with this key, in JavaScript and PostgreSQL.
 * `between`: matches a character that may be between those of the key.
 */
export const spellingsOf = (documentKey: string, between = NOT_OF_KEY.source): string =>
  [...documentKey].join(`${between}*`);
