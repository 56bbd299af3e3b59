// The bar code of a boleto: interleaved 2 of 5 (ISO/IEC 16390), wide elements three times a narrow one (FEBRABAN).

/** One black bar. Places and widths in narrow elements from the left edge of the symbol. */
export interface Bar {
  readonly start: number;
  readonly width: 1 | 3;
}

const NARROW = 1;
const WIDE = 3;
/** Five elements a digit, the wide ones marked: weights 1, 2, 4, 7 and parity, where 4 + 7 stands for zero. */
const WIDE_ELEMENTS = ['..ww.', 'w...w', '.w..w', 'ww...', '..w.w', 'w.w..', '.ww..', '...ww', 'w..w.', '.w.w.'];
const START = [NARROW, NARROW, NARROW, NARROW] as const;
const STOP = [WIDE, NARROW, NARROW] as const;

const elementsOf = (digit: string): readonly (1 | 3)[] =>
  [...WIDE_ELEMENTS[Number(digit)]!].map((mark) => (mark === 'w' ? WIDE : NARROW));

/** Of each pair the first digit lies in the bars and the second in the spaces between them. */
const pairElements = (pair: string): readonly (1 | 3)[] => {
  const spaces = elementsOf(pair[1]!);
  return elementsOf(pair[0]!).flatMap((bar, i) => [bar, spaces[i]!]);
};

/** Narrow elements that `digits` digits take: 405 for the 44 of a boleto. */
export const symbolWidth = (digits: number): number => 9 * digits + 9;

/** The bars of an even number of digits, left to right. Throws RangeError for anything else. */
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
