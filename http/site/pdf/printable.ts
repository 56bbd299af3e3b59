// The standard fonts of PDF cover WinAnsi (Windows-1252) alone; names come in any script.

/** Beyond Latin-1, the characters of Windows-1252 (ISO 32000-1, annex D.2). */
const WIN_ANSI_BEYOND_LATIN_1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
/** Longer texts are cut before they are measured: no page shows so much of a name. */
const GRAPHEMES_MAX = 400;
const SUBSTITUTE = '?';

const graphemes = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

const isPrintable = (character: string): boolean =>
  /^[\x20-\x7e\xa1-\xac\xae-\xff]$/.test(character) || WIN_ANSI_BEYOND_LATIN_1.includes(character);

/** Latin letters with a stroke have no decomposition in Unicode. */
const STROKED: Readonly<Record<string, string>> = {
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  Ŧ: 'T',
  ŧ: 't',
};

/** Letters without their marks and compatibility forms (`ﬁ`, `Ａ`), what is left of them in WinAnsi. */
const folded = (grapheme: string): string =>
  [...grapheme.normalize('NFKD')]
    .map((character) => STROKED[character] ?? character)
    .filter(isPrintable)
    .join('');

const printableGrapheme = (grapheme: string): string => {
  if (/^\p{White_Space}|^\p{Cc}/u.test(grapheme)) return ' ';
  if (isPrintable(grapheme)) return grapheme;
  if (/\p{Extended_Pictographic}|\p{Regional_Indicator}|^[\p{Cf}\p{M}]+$/u.test(grapheme)) return '';
  return folded(grapheme) || SUBSTITUTE;
};

/**
 * `text` on one line in characters of WinAnsi: accents are kept or folded, pictures and invisible marks left out, and a
 * character of another script becomes `?`. Total: takes lone surrogates and control characters too.
 */
export const printable = (text: string): string => {
  let line = '';
  let count = 0;
  for (const { segment } of graphemes.segment(text.normalize('NFC'))) {
    if (count++ === GRAPHEMES_MAX) return `${line.trim()}…`;
    line += printableGrapheme(segment);
  }
  return line.replace(/ +/g, ' ').trim();
};
