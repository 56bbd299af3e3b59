// CSV as in RFC 4180.

const NEEDS_QUOTES = { ',': /[",\r\n]/, ';': /[";\r\n]/ } as const;
/** Semicolons separate fields where commas are decimal marks. */
export type CsvSeparator = keyof typeof NEEDS_QUOTES;

/** Returns a function that formats a text as a field, quoted if necessary. */
export const csvFieldWith =
  (separator: CsvSeparator) =>
  (text: string): string =>
    NEEDS_QUOTES[separator].test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Returns the text as a field between commas. */
export const csvField = csvFieldWith(',');

/** Returns the text with an apostrophe before a formula, so that no spreadsheet runs it. */
export const withoutFormula = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

/** Returns free text as a field between commas. */
export const csvTextField = (text: string): string => csvField(withoutFormula(text));
