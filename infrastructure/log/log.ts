// Structured logs on standard error, without personal data, secrets and stacks.
import { join, relative } from 'node:path';
import pino from 'pino';
import type { LogLevel } from '../config/config.ts';

export type Log = pino.Logger;

const FRAME = /^ {4}at (?:(?:async )?(\S.*) \()?(?:file:\/\/)?(\/[^():]*):(\d+):\d+\)?$/;
const ROOT = join(import.meta.dirname, '../..');

/** Every statement passes there. */
const COMMON = 'infrastructure/postgres/';

/** Returns the innermost place of ours that an error came through, as `function, file, line 12`; null: none is known. */
export const placeOf = ({ stack = '' }: Error): string | null => {
  const places = stack.split('\n').flatMap((line) => {
    const [, name, path = '', at] = FRAME.exec(line) ?? [];
    if (!path.startsWith(ROOT) || path.includes('/node_modules/')) return [];
    const file = relative(ROOT, path);
    return { file, text: `${name === undefined ? '' : `${name}, `}${file}, line ${at}` };
  });
  return (places.find(({ file }) => !file.startsWith(COMMON)) ?? places[0])?.text ?? null;
};

/** Errors of drivers carry their connection, statement and values: only what was said is logged, and where; no stack. */
const errorWithoutData = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message } = error;
  const { code } = error as { code?: unknown };
  return { name, message, ...(typeof code === 'string' && { code }), where: placeOf(error) };
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
