// CSV as in RFC 4180.

/** Returns the text as a field of a line, quoted if it must be. */
export const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
