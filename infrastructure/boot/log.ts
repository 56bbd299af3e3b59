// Structured logs on standard error, without personal data and secrets.
import pino from 'pino';
import type { LogLevel } from './config.ts';

export type Log = pino.Logger;

export const openLog = (level: LogLevel): Log =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
