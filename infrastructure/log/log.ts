// Structured logs on standard error, without personal data, secrets and stacks.
import { join, relative } from 'node:path';
import pino from 'pino';
import type { SecurityLine } from '../../application/ports/securityEvents.ts';
import type { LogLevel } from '../config/config.ts';

export type Log = pino.Logger;

const FRAME = /^ {4}at (?:(?:async )?(\S.*) \()?(?:file:\/\/)?(\/[^():]*):(\d+):\d+\)?$/;
const ROOT = join(import.meta.dirname, '../..');

/** All SQL statements pass through this folder, so its frames are not informative. */
const COMMON = 'infrastructure/postgres/';

/** Returns the innermost frame of Quita's code in an error's stack, as `function, file, line 12`, or null if absent. */
export const placeOf = ({ stack = '' }: Error): string | null => {
  const places = stack.split('\n').flatMap((line) => {
    const [, name, path = '', at] = FRAME.exec(line) ?? [];
    if (!path.startsWith(ROOT) || path.includes('/node_modules/')) return [];
    const file = relative(ROOT, path);
    return { file, text: `${name === undefined ? '' : `${name}, `}${file}, line ${at}` };
  });
  return (places.find(({ file }) => !file.startsWith(COMMON)) ?? places[0])?.text ?? null;
};

/** Drivers' errors carry connections, statements and values, so only name, message, code and place are logged. */
const errorWithoutData = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message } = error;
  const { code } = error as { code?: unknown };
  return { name, message, ...(typeof code === 'string' && { code }), where: placeOf(error) };
};

/** Lines of the security log that a process keeps for operators. */
const SECURITY_LINES = 100;
const kept = new WeakMap<Log, readonly SecurityLine[]>();

/** Returns the newest lines of the security log that this process wrote, newest first. */
export const securityLines = (log: Log): readonly SecurityLine[] => (kept.get(log) ?? []).toReversed();

/** Opens a log that writes to `to`; by default to standard error, synchronously. */
export const openLog = (level: LogLevel, to: pino.DestinationStream = pino.destination({ fd: 2, sync: true })): Log => {
  const lines: SecurityLine[] = [];
  const write = (line: string): void => {
    to.write(line);
    // Values are escaped, so only the name of a field looks like this.
    if (!line.includes('"security":')) return;
    const { time: at, msg: text, level: _, security, ...details } = JSON.parse(line);
    if (lines.push({ at, text, security, details }) > SECURITY_LINES) lines.shift();
  };
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorWithoutData },
  };
  const log = pino(options, { write });
  kept.set(log, lines);
  return log;
};

/** Returns an error handler that logs a warning, for work that continues by itself after an error. */
export const warnings =
  (log: Log) =>
  (what: string) =>
  (error: Error): void =>
    log.warn({ err: error }, what);
