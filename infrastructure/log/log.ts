// Structured logs on standard error, without personal data and secrets.
import pino from 'pino';
import type { LogLevel } from '../boot/config.ts';

export type Log = pino.Logger;

/** Errors of drivers carry their connection, statement and values: only what was said is logged, and where. */
const errorWithoutData = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  return { name, message, ...(typeof code === 'string' && { code }), stack };
};

/** `to`: standard error by default, written at once. */
export const openLog = (level: LogLevel, to: pino.DestinationStream = pino.destination({ fd: 2, sync: true })): Log =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: errorWithoutData } }, to);

/** For what goes on by itself after an error: a warning that says what failed. */
export const warnings =
  (log: Log) =>
  (what: string) =>
  (error: Error): void =>
    log.warn({ err: error }, what);
