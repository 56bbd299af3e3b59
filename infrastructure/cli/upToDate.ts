// Commands read read models only when these reflect the log, like routes (architecture §6).
import type { ReadModelName } from '../../application/ports/readModels/progress.ts';
import type { Storage } from '../boot/storage.ts';
import { LogProgress, watchCheckpoints } from '../subscriptions/progress.ts';
import { UsageError } from './command.ts';

/** Longest wait for read models. */
const WAIT_MS = 5_000;

/** Waits until the read models reflect all events in the log at the call. Throws UsageError if they don't within 5 s. */
export const untilUpToDate = async (
  { store, notices, reads }: Pick<Storage, 'store' | 'notices' | 'reads'>,
  models: readonly ReadModelName[],
): Promise<void> => {
  const progress = new LogProgress<ReadModelName>(() => performance.now(), models);
  await progress.follow(store, notices, 'projector');
  const { stop } = await watchCheckpoints(reads, progress, () => undefined);
  try {
    if (await progress.caughtUp(WAIT_MS)) return;
    throw new UsageError(
      `the read models are behind the log (${progress.behind().join(', ')}): try again later, or run npm run cli -- projections status`,
    );
  } finally {
    await stop();
  }
};
