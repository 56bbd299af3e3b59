// Work that comes round by the clock, never twice at once.
import cron, { type Logger } from 'node-cron';
import type { Log } from '../log/log.ts';

/** What the clock itself has to say, such as that a time was missed while the process was busy; by default it writes to the console. */
const clockLog = (log: Log, schedule: string): Logger => ({
  info: (message) => log.info({ schedule }, message),
  warn: (message) => log.warn({ schedule }, message),
  error: (error) => log.warn({ schedule, err: error }, 'scheduled work failed'),
  debug: (error) => log.debug({ schedule, err: error }, 'the clock of a schedule'),
});

/** `pattern`: six fields, seconds first. Returns how to stop it. */
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
