// Work that comes round by the clock, never twice at once.
import cron from 'node-cron';

/** `pattern`: six fields, seconds first. Returns how to stop it. */
export const startSchedule = (
  pattern: string,
  run: () => Promise<void>,
  onError: (error: Error) => void,
): (() => Promise<void>) => {
  const task = cron.schedule(pattern, () => run().catch(onError), { noOverlap: true });
  return async () => void (await task.destroy());
};
