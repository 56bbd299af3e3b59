// The items of one job, side by side.

/** All run, whichever fails; then the first failure is told, and the whole job comes again. */
export const eachOf = async (items: readonly string[], run: (item: string) => Promise<void>): Promise<void> => {
  const results = await Promise.allSettled(items.map(run));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
};
