// Timers in memory.
import type { Timer, Timers } from '../../application/ports/timers.ts';

/** Returns timers in memory. `timers` contains those that are set, by key. */
export const memoryTimers = (): Timers & { readonly timers: Map<string, Timer> } => {
  const timers = new Map<string, Timer>();
  return {
    timers,
    set: async (timer) => {
      const before = timers.get(timer.key);
      if (before === undefined || before.dueAt < timer.dueAt) timers.set(timer.key, timer);
    },
    dueAt: async ({ key }) => timers.get(key)?.dueAt ?? null,
    among: async (keys) => keys.filter(({ key }) => timers.has(key)),
  };
};
