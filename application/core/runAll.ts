// The items of one job, side by side.
import { ItemsFailed } from '../ports/jobs.ts';

/** All run, whichever fails; then those that failed are named, and only they come again. Throws ItemsFailed. */
export const eachOf = async (items: readonly string[], run: (item: string) => Promise<void>): Promise<void> => {
  const results = await Promise.allSettled(items.map(run));
  const failures = results.flatMap((result, i) =>
    result.status === 'rejected' ? [{ item: items[i] as string, error: result.reason as Error }] : [],
  );
  if (failures.length > 0) throw new ItemsFailed(failures);
};
