// Names, cities and notes inside a BR code. Strict bank apps refuse accents, so what is written is printable ASCII.

const COMBINING_MARKS = /\p{M}/gu;
const NOT_PRINTABLE_ASCII = /[^ -~]/gu;

/**
 * `text` in printable ASCII, at most `max` characters: accents stripped, every other character a space, spaces
 * collapsed, cut, trimmed. May be empty. Folding what is folded changes nothing.
 */
export const foldToAscii = (text: string, max: number): string =>
  text
    .normalize('NFKD')
    .replace(COMBINING_MARKS, '')
    .replace(NOT_PRINTABLE_ASCII, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, max)
    .trimEnd();
