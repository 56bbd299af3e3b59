// Waiting for an effect to show in the read models: looked at whenever they move, and now and then in case a notice was missed.
import type { Progress } from '../../application/ports/readModels/progress.ts';

const LOOK_MS = 250;

/** What `look` finds, or null after `timeoutMs`. */
export const pollUntil = async <T>(
  progress: Pick<Progress, 'onMove'>,
  timeoutMs: number,
  look: () => Promise<T | null>,
): Promise<T | null> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let wake: () => void = () => undefined;
    const moved = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const undo = progress.onMove(wake); // before looking: a move in between is not missed
    const timer = setTimeout(wake, LOOK_MS);
    try {
      const found = await look();
      if (found !== null) return found;
      if (performance.now() >= deadline) return null;
      await moved;
    } finally {
      undo();
      clearTimeout(timer);
    }
  }
};
