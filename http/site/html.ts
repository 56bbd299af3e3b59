// HTML that can't be injected into: whatever a template interpolates is escaped unless `html` itself made it.

/** A piece of HTML that is safe to put into a page. Made only by `html`. */
export interface Markup {
  readonly markup: string;
}

/** What a template may interpolate: text and numbers (escaped), markup, a list of markup, or null for nothing. */
type Piece = string | number | Markup | readonly Markup[] | null;

const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand between tags and inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITY[character]!);

const isList = (piece: Piece): piece is readonly Markup[] => Array.isArray(piece);

const render = (piece: Piece): string => {
  if (piece === null) return '';
  if (typeof piece === 'string' || typeof piece === 'number') return escapeHtml(String(piece));
  return isList(piece) ? piece.map((part) => part.markup).join('') : piece.markup;
};

/** Template tag. Attributes must be quoted in the template, since only quoted values are safe once escaped. */
export const html = (strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup => ({
  markup: strings.reduce((text, string, index) => text + render(pieces[index - 1]!) + string),
});
