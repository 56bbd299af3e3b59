// The timers of creations, in memory.
import type { CreationTimers, Timer } from '../../application/ports/timers.ts';

/** What is set, by key. */
export const memoryTimers = (): CreationTimers & { readonly timers: Map<string, Timer> } => {
  const timers = new Map<string, Timer>();
  return {
    timers,
    set: async (timer) => {
      const before = timers.get(timer.key);
      if (before === undefined || before.dueAt < timer.dueAt) timers.set(timer.key, timer);
    },
    dueAt: async (_kind, key) => timers.get(key)?.dueAt ?? null,
  };
};
