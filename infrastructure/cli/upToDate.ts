// Commands that read read models wait until these reflect the log, like routes (architecture §6). They also work while no program runs, so
// only commands that change something are refused.
import type { Storage } from '../boot/storage.ts';
import { LogProgress, watchCheckpoints } from '../subscriptions/progress.ts';
import { type StorageCommand, UsageError } from './command.ts';

/** Longest wait for read models. */
const WAIT_MS = 5_000;

/**
 * Waits until the command's read models reflect all events in the log at the call. If they don't within 5 s, throws UsageError if the
 * command changes something, and warns otherwise.
 */
export const untilUpToDate = async (
  { store, notices, reads }: Pick<Storage, 'store' | 'notices' | 'reads'>,
  { reads: models = [], changes }: Pick<StorageCommand, 'reads' | 'changes'>,
  warn: (line: string) => void,
): Promise<void> => {
  if (models.length === 0) return;
  const progress = new LogProgress(() => performance.now(), models);
  await progress.follow(store, notices, 'projector');
  const { stop } = await watchCheckpoints(reads, progress, () => undefined);
  try {
    if (await progress.caughtUp(WAIT_MS)) return;
    const behind = `the read models are behind the log (${progress.behind().join(', ')})`;
    if (changes === undefined) return warn(`${behind}: the newest events may be missing`);
    throw new UsageError(`${behind}: try again later, or run npm run cli -- projections status`);
  } finally {
    await stop();
  }
};
