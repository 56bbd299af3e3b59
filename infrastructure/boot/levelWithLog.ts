// Waiting until a read model has passed whatever is in the log, written by whichever process.
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { ReadModelName } from '../../application/ports/readModels.ts';
import type { LogProgress } from '../subscriptions/progress.ts';

export interface Level {
  /** The newest event when it was asked; null: the log is empty. */
  readonly head: Position | null;
  /** Whether it was passed in time. */
  readonly isLevel: boolean;
}
/** Waits at most `timeoutMs`, and holds no connection. Throws EventStoreUnavailable. */
export type LevelWithLog = (timeoutMs: number) => Promise<Level>;

export const levelWithLog =
  (
    store: Pick<EventStore, 'head'>,
    progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>,
    model: ReadModelName,
  ): LevelWithLog =>
  async (timeoutMs) => {
    const head = await store.head();
    if (head !== null) progress.sawHead(head); // what another process wrote may not have been announced yet
    return { head, isLevel: await progress.caughtUp(timeoutMs, [model]) };
  };
