// Waits for an effect in the read models, as the product does.
import { pollUntil as pollUntilMoved } from '../../application/core/quiescence.ts';
import { systemStopwatch } from '../../infrastructure/system/system.ts';

/** Returns the first value of `look` that is not null, or null after `timeoutMs`. */
export const pollUntil = <T>(
  progress: { onMove(listener: () => void): () => void },
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> =>
  pollUntilMoved({ stopwatch: systemStopwatch, onMove: (listener) => progress.onMove(listener) }, timeoutMs, look);
