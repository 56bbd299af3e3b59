// Formats text for Markdown tables.

/** Escapes bars, which would end the cell, and angle brackets, which would begin a tag. */
export const cell = (text: string): string => text.replace(/\|/g, '\\|').replace(/</g, '&lt;');
export const code = (text: string): string => `\`${text}\``;
/** Returns a comma-separated list, or a dash if it is empty. */
export const listed = (texts: readonly string[]): string => (texts.length === 0 ? '–' : texts.join(', '));
