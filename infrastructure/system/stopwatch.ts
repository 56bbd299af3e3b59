// Time as this process measures it.
import { setTimeout } from 'node:timers/promises';
import type { Stopwatch } from '../../application/ports/clock.ts';

export const systemStopwatch: Stopwatch = {
  elapsedMs: () => performance.now(),
  pause: (ms, signal) => setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => undefined),
};
