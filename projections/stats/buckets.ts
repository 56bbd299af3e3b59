// Buckets of seconds: each second up to 255 has its own, longer times share buckets of at most 1/128 of their length. So a period has at
// most 2,417 buckets up to a year, and a percentile is at most 0.8 % too low.

const EXACT_BITS = 8;

/** Returns the first of the seconds that share a bucket with these, which must be a whole number from 0 to 2^53 − 1. */
export const bucketOf = (seconds: number): number => {
  if (seconds < 2 ** EXACT_BITS) return seconds;
  const width = 2 ** (Math.floor(Math.log2(seconds)) - (EXACT_BITS - 1));
  return Math.floor(seconds / width) * width;
};

/** Payments whose time is in the bucket that begins at `seconds`. */
export interface BucketCount {
  readonly seconds: number;
  readonly payments: number;
}

/**
 * Returns the nearest-rank percentile of buckets in ascending order: the bucket within which at least `percent` were paid. Returns null
 * without payments.
 */
export const percentileOf = (buckets: readonly BucketCount[], percent: number): number | null => {
  const rank = Math.ceil((buckets.reduce((sum, { payments }) => sum + payments, 0) * percent) / 100);
  let seen = 0;
  for (const { seconds, payments } of buckets) {
    seen += payments;
    if (seen >= rank) return seconds;
  }
  return null;
};
