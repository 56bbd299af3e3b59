// Deletes old items of all connections, while other work uses the database.
import { SECOND_MS } from '../../domain/kernel/time.ts';
import type { OldItems, ReconciliationRuns } from '../ports/providerBooks.ts';
import type { Stopwatch } from '../ports/system.ts';
import { withRests } from '../ports/withRests.ts';

export interface OldItemsNeeds {
  readonly runs: ReconciliationRuns;
  readonly oldItems: OldItems;
  readonly stopwatch: Stopwatch;
}

/** How long a run may take. One starts every minute. */
const RUN_MS = 20 * SECOND_MS;

export const deleteOldItems = async ({ runs, oldItems, stopwatch }: OldItemsNeeds): Promise<void> => {
  const connections = [...(await runs.known())];
  await withRests(stopwatch, RUN_MS, async () => {
    const connection = connections[0];
    if (connection === undefined) return false;
    if (!(await oldItems.deleteSome(connection))) connections.shift();
    return true;
  });
};
