// Scheduled work that never overlaps itself.
import cron, { type Logger } from 'node-cron';
import type { Log } from '../log/log.ts';

/** Logs the scheduler's own messages, such as a run missed while the process was busy. By default it writes to the console. */
const clockLog = (log: Log, schedule: string): Logger => ({
  info: (message) => log.info({ schedule }, message),
  warn: (message) => log.warn({ schedule }, message),
  error: (error) => log.warn({ schedule, err: error }, 'scheduled work failed'),
  debug: (error) => log.debug({ schedule, err: error }, 'scheduler message'),
});

/** Starts a schedule. `pattern` has six fields, seconds first. Returns a function that stops it. */
export const startSchedule = (
  pattern: string,
  run: () => Promise<void>,
  onError: (error: Error) => void,
  log: Log,
): (() => Promise<void>) => {
  const task = cron.schedule(pattern, () => run().catch(onError), { noOverlap: true, logger: clockLog(log, pattern) });
  return async () => void (await task.destroy());
};

export type StartSchedule = typeof startSchedule;
