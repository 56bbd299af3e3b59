// Waiting until a read model has passed whatever is in the log, written by whichever process.
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { CaughtUp, ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { LogProgress } from './progress.ts';

export const caughtUp =
  (store: Pick<EventStore, 'head'>, progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>): CaughtUp =>
  async (model, timeoutMs) => {
    const head = await store.head();
    if (head !== null) progress.sawHead(head); // what another process wrote may not have been announced yet
    return { head, isCaughtUp: await progress.caughtUp(timeoutMs, [model]) };
  };
