// Converts text to WinAnsi (Windows-1252), because the standard PDF fonts contain no other characters and names may be in any script.

/** The characters of Windows-1252 that are not in Latin-1 (ISO 32000-1, annex D.2). */
const WIN_ANSI_BEYOND_LATIN_1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
/** Longer texts are cut before they are measured, because no page shows that much. */
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

/** Returns a grapheme without marks and compatibility forms (`ﬁ`, `Ａ`), reduced to characters of WinAnsi. */
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
 * Returns the text as one line of WinAnsi. Accents are kept or folded, pictures and invisible marks removed, and characters of other
 * scripts become `?`. Accepts any string, even with lone surrogates and control characters.
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

const codePoint = (character: string): string =>
  `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`;

/**
 * Returns the text in WinAnsi without losing any of it: each other character becomes its code point, such as `[U+0414]`. Line breaks stay.
 * Accepts any string.
 */
export const spelledOut = (text: string): string =>
  Array.from(text.normalize('NFC').replaceAll('\r\n', '\n').replaceAll('\u00a0', ' '), (character) =>
    isPrintable(character) || character === '\n' ? character : codePoint(character),
  ).join('');
