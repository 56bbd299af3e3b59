// Validates the options of a subscription, for all adapters.

const CATEGORY = /^[A-Za-z][A-Za-z0-9]*$/;
export const BATCH_DEFAULT = 500;
/** A page is in memory at most twice; ten thousand events of 1 kB are 10 MB. */
const BATCH_MAX = 10_000;

/** Returns the batch size, at most BATCH_MAX. Throws RangeError unless it is a positive integer. */
export const checkBatchSize = (batchSize: number): number => {
  if (!Number.isSafeInteger(batchSize) || batchSize < 1) throw new RangeError(`bad batch size ${batchSize}`);
  return Math.min(batchSize, BATCH_MAX);
};

/** Returns the categories sorted and without duplicates. Throws RangeError for an invalid name or an empty list. */
export const checkCategories = (categories: readonly string[]): readonly string[] => {
  const names = [...new Set(categories)].sort();
  for (const name of names) if (!CATEGORY.test(name)) throw new RangeError(`not a category: ${JSON.stringify(name)}`);
  if (names.length === 0) throw new RangeError('a subscription needs at least one category');
  return names;
};
