// Work for each item of a list, some at a time.

/** Returns the results in the order of the items. */
export const eachOf = async <T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> => {
  const results: R[] = [];
  let next = 0;
  const workOn = async (): Promise<void> => {
    for (let n = next++; n < items.length; n = next++) results[n] = await work(items[n] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  return results;
};
