// Spreads long work, such as deleting old data, so that requests to the same database are not delayed.
import type { Stopwatch } from './system.ts';

/**
 * Repeats `step` while it returns true, for at most `forMs`. Rests after each step as long as the step took, so that the work uses at most
 * half of the time, and slows down when the database is busy.
 */
export const withRests = async (stopwatch: Stopwatch, forMs: number, step: () => Promise<boolean>): Promise<void> => {
  const endsAtMs = stopwatch.elapsedMs() + forMs;
  for (;;) {
    const beganAtMs = stopwatch.elapsedMs();
    if (!(await step())) return;
    const endedAtMs = stopwatch.elapsedMs();
    const restMs = endedAtMs - beganAtMs;
    if (endedAtMs + restMs >= endsAtMs) return;
    await stopwatch.pause(restMs);
  }
};
