// Highlights JSON: keys, strings and other values have different colours.
import { escapeHtml, type Markup } from '../html.ts';

const TOKEN = /("(?:\\.|[^"\\])*"?)(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** Returns the text with highlighted JSON tokens. Other text is unchanged. */
export const highlighted = (text: string): Markup => {
  let markup = '';
  let end = 0;
  for (const { 0: token, 1: quoted, 2: colon, index } of text.matchAll(TOKEN)) {
    const kind = quoted === undefined ? 'value' : colon === undefined ? 'text' : 'key';
    markup += `${escapeHtml(text.slice(end, index))}<span class="${kind}">${escapeHtml(token)}</span>`;
    end = index + token.length;
  }
  return { markup: markup + escapeHtml(text.slice(end)) };
};
