// Texts inside a table of Markdown.

/** A bar would end the cell, and an angle bracket begin a tag. */
export const cell = (text: string): string => text.replace(/\|/g, '\\|').replace(/</g, '&lt;');
export const code = (text: string): string => `\`${text}\``;
/** An em dash stands for nothing. */
export const listed = (texts: readonly string[]): string => (texts.length === 0 ? '–' : texts.join(', '));
