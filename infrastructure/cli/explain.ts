// What ends a program, in one line to whoever started it or typed a command (rules S1, S4): exit code 2 where they can mend it, 1 for what
// nobody expected, whose stack is for whoever debugs.
import { EventStoreUnavailable, LogNotInUse, UnknownPosition } from '../../application/ports/eventStore.ts';
import { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { ConfigError, type LogLevel } from '../config/config.ts';
import { EmbeddedPostgresError } from '../embeddedPostgres/embeddedPostgres.ts';
import { ForeignLog } from '../eventStore/readableLog.ts';
import { OtherJobsSchema } from '../jobs/schema.ts';
import { placeOf } from '../log/log.ts';
import { DatabaseUnreachable } from '../postgres/database.ts';
import { ForeignSchema, OlderSchema } from '../postgres/migrate.ts';
import { UsageError } from './command.ts';

const KINDS = [
  CheckpointMismatch,
  ConfigError,
  DatabaseUnreachable,
  EmbeddedPostgresError,
  ForeignLog,
  LogNotInUse,
  ForeignSchema,
  OlderSchema,
  OtherJobsSchema,
  UnknownPosition,
  UsageError,
] as const;

/** What the server says of itself or of our rights: connections, login, database, resources, shutting down, read-only, privileges. */
const SERVERS_OWN = /^(08|28|3D|53|57P)|^(25006|42501)$/;

const sqlStateOf = (error: unknown): string | null => {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined ? code : null;
};

const oneLine = (message: string): string => message.replace(/\s*\n\s*/g, ' ');

/** One line, or null for what nobody expected. */
export const explained = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const message = oneLine(error.message);
  if (KINDS.some((kind) => error instanceof kind)) return message;
  if (error instanceof EventStoreUnavailable) return `the event store can't be reached: ${message}`;
  const sqlState = sqlStateOf(error);
  return sqlState !== null && SERVERS_OWN.test(sqlState) ? `the database refuses: ${message} (${sqlState})` : null;
};

const DEBUGGING: readonly unknown[] = ['debug', 'trace'] satisfies LogLevel[];

const unforeseen = (error: unknown, isDebugging: boolean): string => {
  if (!(error instanceof Error)) return `an unforeseen fault: ${String(error)}`;
  const place = placeOf(error);
  const what = `${error.name}: ${oneLine(error.message)}${place === null ? '' : ` (in ${place})`}`;
  return isDebugging
    ? `an unforeseen fault: ${what}\n${error.stack}`
    : `an unforeseen fault: ${what}; LOG_LEVEL=debug shows where it came from`;
};

/** What goes to standard error, and the exit code. With `LOG_LEVEL=debug` an unforeseen fault has its stack below the line. */
export const outcomeOf = (error: unknown, env: NodeJS.ProcessEnv): { readonly says: string; readonly code: 1 | 2 } => {
  const says = explained(error);
  return says === null ? { says: unforeseen(error, DEBUGGING.includes(env['LOG_LEVEL'])), code: 1 } : { says, code: 2 };
};
