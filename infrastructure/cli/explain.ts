// Explains in one line why a program or command failed (rules S1, S4). Exit code 2: the operator can fix it. Exit code 1: an unexpected
// error, whose stack is shown only when debugging.
import { DataKeysUnavailable } from '../../application/ports/dataKeys.ts';
import { EventStoreUnavailable, LogNotInUse, UnknownPosition } from '../../application/ports/eventStore.ts';
import { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { ConfigError, type LogLevel } from '../config/config.ts';
import { EmbeddedPostgresError } from '../embeddedPostgres/embeddedPostgres.ts';
import { ForeignLog } from '../eventStore/readableLog.ts';
import { OtherJobsSchema } from '../jobs/schema.ts';
import { placeOf } from '../log/log.ts';
import { DatabaseUnreachable } from '../postgres/database.ts';
import { ForeignSchema, MigrationHeldUp, OlderSchema } from '../postgres/migrate.ts';
import { UsageError } from './command.ts';

const KINDS = [
  CheckpointMismatch,
  ConfigError,
  DatabaseUnreachable,
  EmbeddedPostgresError,
  ForeignLog,
  LogNotInUse,
  ForeignSchema,
  MigrationHeldUp,
  OlderSchema,
  OtherJobsSchema,
  UnknownPosition,
  UsageError,
] as const;

/** Errors about the server or the program's rights: connections, login, database, resources, shutdown, read-only mode, privileges. */
const SERVERS_OWN = /^(08|28|3D|53|57P)|^(25006|42501)$/;

const sqlStateOf = (error: unknown): string | null => {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined ? code : null;
};

/** No such folder, no rights, no space: the operator can fix it. */
const FILE_PROBLEM = /^E(ACCES|EXIST|ISDIR|NOENT|NOSPC|NOTDIR|PERM|ROFS)$/;
const isAboutFile = ({ code = '', path }: NodeJS.ErrnoException): boolean =>
  typeof path === 'string' && FILE_PROBLEM.test(code);

const oneLine = (message: string): string => message.replace(/\s*\n\s*/g, ' ');

/** Returns the error in one line, or null if the error is unexpected. */
export const explained = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const message = oneLine(error.message);
  if (KINDS.some((kind) => error instanceof kind)) return message;
  if (error instanceof DataKeysUnavailable) return message;
  if (error instanceof EventStoreUnavailable) return `the event store can't be reached: ${message}`;
  if (isAboutFile(error)) return `a file can't be used: ${message}`;
  const sqlState = sqlStateOf(error);
  return sqlState !== null && SERVERS_OWN.test(sqlState)
    ? `the database reports an error: ${message} (${sqlState})`
    : null;
};

const DEBUGGING: readonly unknown[] = ['debug', 'trace'] satisfies LogLevel[];

const unforeseen = (error: unknown, isDebugging: boolean): string => {
  if (!(error instanceof Error)) return `unexpected error: ${String(error)}`;
  const place = placeOf(error);
  const what = `${error.name}: ${oneLine(error.message)}${place === null ? '' : ` (in ${place})`}`;
  return isDebugging
    ? `unexpected error: ${what}\n${error.stack}`
    : `unexpected error: ${what}; set LOG_LEVEL=debug to see the stack`;
};

/** Returns the text for standard error, and the exit code. With `LOG_LEVEL=debug` the stack of an unexpected error follows. */
export const outcomeOf = (error: unknown, env: NodeJS.ProcessEnv): { readonly says: string; readonly code: 1 | 2 } => {
  const says = explained(error);
  return says === null ? { says: unforeseen(error, DEBUGGING.includes(env['LOG_LEVEL'])), code: 1 } : { says, code: 2 };
};
