// Deletes old items of all connections, while other work uses the database.
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { SECOND_MS } from '../../domain/kernel/time.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
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

/**
 * Deletes old items, one connection after the other. Throws the first error at the end. `failing`: the connections whose last deletion
 * failed. They come last, because a failure may take a whole run.
 */
export const deleteOldItems = async (
  { runs, oldItems, stopwatch }: OldItemsNeeds,
  failing: Set<ConnectionId>,
): Promise<void> => {
  const known = await runs.known();
  const connections = [...known.filter((one) => !failing.has(one)), ...known.filter((one) => failing.has(one))];
  const errors: unknown[] = [];
  await withRests(stopwatch, RUN_MS, async () => {
    const connection = connections[0];
    if (connection === undefined) return false;
    try {
      if (!(await oldItems.deleteSome(connection))) connections.shift();
      failing.delete(connection);
    } catch (error) {
      connections.shift();
      failing.add(connection);
      errors.push(error);
    }
    return true;
  });
  throwFirst(errors);
};
