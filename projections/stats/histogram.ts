// Histogram of payment counts by seconds, encoded as canonical text: equal counts have equal text.

/** Maps seconds (0 to 2^32 − 1) to payments (1 to 2^32 − 1). */
export type Histogram = Map<number, number>;

const PAIR_BYTES = 8;

/** Encodes pairs of seconds and payments, 4 bytes each, ascending, in base64. */
export const encodeHistogram = (histogram: ReadonlyMap<number, number>): string => {
  const bytes = Buffer.alloc(histogram.size * PAIR_BYTES);
  let offset = 0;
  for (const seconds of Uint32Array.from(histogram.keys()).sort()) {
    bytes.writeUInt32LE(seconds, offset);
    bytes.writeUInt32LE(histogram.get(seconds) as number, offset + 4);
    offset += PAIR_BYTES;
  }
  return bytes.toString('base64');
};

const eachPair = (text: string, visit: (seconds: number, payments: number) => void): void => {
  const bytes = Buffer.from(text, 'base64');
  for (let offset = 0; offset < bytes.length; offset += PAIR_BYTES)
    visit(bytes.readUInt32LE(offset), bytes.readUInt32LE(offset + 4));
};

export const decodeHistogram = (text: string): Histogram => {
  const histogram: Histogram = new Map();
  eachPair(text, (seconds, payments) => histogram.set(seconds, payments));
  return histogram;
};

/** Nearly all payments are made within three days, the longest lifetime of an instrument. These are summed in an array, others in a map. */
const DENSE_SECONDS = 3 * 86_400 + 1;

/** Sums many histograms. */
export class HistogramSum {
  readonly #dense = new Float64Array(DENSE_SECONDS);
  readonly #sparse: Histogram = new Map();
  #payments = 0;

  add(text: string): void {
    eachPair(text, (seconds, payments) => {
      this.#payments += payments;
      if (seconds < DENSE_SECONDS) this.#dense[seconds] = (this.#dense[seconds] as number) + payments;
      else this.#sparse.set(seconds, (this.#sparse.get(seconds) ?? 0) + payments);
    });
  }

  /** Returns the nearest-rank percentile: the smallest number of seconds within which at least `percent` were paid; null if empty. */
  percentile(percent: number): number | null {
    if (this.#payments === 0) return null;
    const rank = Math.ceil((this.#payments * percent) / 100);
    let seen = 0;
    for (let seconds = 0; seconds < DENSE_SECONDS; seconds++) {
      seen += this.#dense[seconds] as number;
      if (seen >= rank) return seconds;
    }
    for (const seconds of Uint32Array.from(this.#sparse.keys()).sort()) {
      seen += this.#sparse.get(seconds) as number;
      if (seen >= rank) return seconds;
    }
    throw new Error('the rank exceeds the number of payments');
  }
}
