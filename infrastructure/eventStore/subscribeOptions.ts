// What a subscription may ask for, on any adapter.

const CATEGORY = /^[A-Za-z][A-Za-z0-9]*$/;
export const BATCH_DEFAULT = 500;
/** A page is held in memory twice at most; ten thousand events of 1 kB are 10 MB. */
const BATCH_MAX = 10_000;

/** Throws RangeError. */
export const checkBatchSize = (batchSize: number): number => {
  if (!Number.isSafeInteger(batchSize) || batchSize < 1) throw new RangeError(`bad batch size ${batchSize}`);
  return Math.min(batchSize, BATCH_MAX);
};

/** Sorted, each once. Throws RangeError on a name that no stream can have, or on none at all. */
export const checkCategories = (categories: readonly string[]): readonly string[] => {
  const names = [...new Set(categories)].sort();
  for (const name of names) if (!CATEGORY.test(name)) throw new RangeError(`not a category: ${JSON.stringify(name)}`);
  if (names.length === 0) throw new RangeError('a subscription needs at least one category');
  return names;
};
