// CSV as in RFC 4180.

/** Returns the text as a field of a line, quoted if it must be: semicolons separate fields in Portuguese. */
export const csvField = (text: string): string => (/[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Returns the same for free text. An apostrophe goes before a text that a spreadsheet would run as a formula. */
export const csvTextField = (text: string): string => csvField(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
