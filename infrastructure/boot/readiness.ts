// Ready means: can append, can read, lag below 5 s (design §9).
import type { Gateway } from './gateway.ts';
import type { Storage } from './storage.ts';

const LAG_MS_MAX = 5_000;
const ANSWER_MS_MAX = 2_000;

const inTime = async (work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ANSWER_MS_MAX);
  });
  try {
    return await Promise.race([
      work.then(
        () => true,
        () => false,
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
};

/** null: ready. */
export const unreadiness = async (
  { store, reads }: Storage,
  { projected, reacted, projector, reactor }: Gateway,
): Promise<string | null> => {
  if (!(await inTime(store.head()))) return 'the event store does not answer';
  if (!(await inTime(reads.query('SELECT 1')))) return 'the database does not answer';
  const [fault] = [...(projector?.faults() ?? []), ...(reactor?.faults() ?? [])];
  if (fault) return `${fault.name} has stopped`;
  if (projected.stuckMs() > LAG_MS_MAX) return 'the read models are behind';
  if (reacted.stuckMs() > LAG_MS_MAX) return 'the processes are behind';
  return null;
};
