// The bar code of a boleto: interleaved 2 of 5 (ISO/IEC 16390). Wide elements have three times the width of narrow ones (FEBRABAN).

/** One black bar. `start` and `width` are in narrow elements, `start` from the left edge of the symbol. */
export interface Bar {
  readonly start: number;
  readonly width: 1 | 3;
}

const NARROW = 1;
const WIDE = 3;
/** The five elements of each digit, with wide ones as `w`. Their weights are 1, 2, 4, 7 and parity; 4 + 7 means zero. */
const WIDE_ELEMENTS = ['..ww.', 'w...w', '.w..w', 'ww...', '..w.w', 'w.w..', '.ww..', '...ww', 'w..w.', '.w.w.'];
const START = [NARROW, NARROW, NARROW, NARROW] as const;
const STOP = [WIDE, NARROW, NARROW] as const;

const elementsOf = (digit: string): readonly (1 | 3)[] =>
  [...WIDE_ELEMENTS[Number(digit)]!].map((mark) => (mark === 'w' ? WIDE : NARROW));

/** In each pair, the bars encode the first digit and the spaces between them the second. */
const pairElements = (pair: string): readonly (1 | 3)[] => {
  const spaces = elementsOf(pair[1]!);
  return elementsOf(pair[0]!).flatMap((bar, i) => [bar, spaces[i]!]);
};

/** Returns the width of a symbol of `digits` digits in narrow elements: 405 for the 44 of a boleto. */
export const symbolWidth = (digits: number): number => 9 * digits + 9;

/** Returns the bars of an even number of digits, left to right. Throws RangeError for anything else. */
export const interleavedTwoOfFive = (digits: string): readonly Bar[] => {
  if (!/^(?:[0-9]{2})+$/.test(digits)) throw new RangeError(`not an even number of digits: ${digits}`);
  const pairs = digits.match(/../g)!.flatMap(pairElements);
  const bars: Bar[] = [];
  let start = 0;
  [...START, ...pairs, ...STOP].forEach((width, i) => {
    if (i % 2 === 0) bars.push({ start, width });
    start += width;
  });
  return bars;
};
