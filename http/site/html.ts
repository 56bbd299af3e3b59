// HTML templates that are safe against injection: interpolated values are escaped unless `html` made them.

/** A fragment of HTML that is safe to put into a page. */
export interface Markup {
  readonly markup: string;
}

/** The values that a template may interpolate: text and numbers (escaped), markup, a list of markup, or null for nothing. */
type Piece = string | number | Markup | readonly Markup[] | null;

const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for use between tags and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITY[character]!);

const isList = (piece: Piece): piece is readonly Markup[] => Array.isArray(piece);

const render = (piece: Piece): string => {
  if (piece === null) return '';
  if (typeof piece === 'string' || typeof piece === 'number') return escapeHtml(String(piece));
  return isList(piece) ? piece.map((part) => part.markup).join('') : piece.markup;
};

/** Template tag. Templates must quote attributes, because escaping is safe only in quoted values. */
export const html = (strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup => ({
  markup: strings.reduce((text, string, index) => text + render(pieces[index - 1]!) + string),
});
