// Waiting for an effect to show, as the product waits for it.
import { pollUntil as pollUntilMoved } from '../../application/core/quiescence.ts';
import { systemStopwatch } from '../../infrastructure/system/system.ts';

/** Returns what `look` finds; null after `timeoutMs`. */
export const pollUntil = <T>(
  progress: { onMove(listener: () => void): () => void },
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> =>
  pollUntilMoved({ stopwatch: systemStopwatch, onMove: (listener) => progress.onMove(listener) }, timeoutMs, look);
