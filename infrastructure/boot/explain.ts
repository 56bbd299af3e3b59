// Faults that one line explains, to whoever started a program or typed a command: no stack, exit code 2 (rules S1, S4).
import { EventStoreUnavailable, LogNotInUse, UnknownPosition } from '../../application/ports/eventStore.ts';
import { CheckpointMismatch } from '../../projections/engine/checkpoints.ts';
import { UsageError } from '../cli/command.ts';
import { EmbeddedPostgresError } from '../embeddedPostgres/embeddedPostgres.ts';
import { ForeignLog } from '../eventStore/readableLog.ts';
import { OtherJobsSchema } from '../jobs/schema.ts';
import { ForeignSchema, OlderSchema } from '../postgres/migrate.ts';
import { DatabaseUnreachable } from '../postgres/reachDatabase.ts';
import { ConfigError } from './config.ts';

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

/** One line, or null for what nobody expected. */
export const explained = (error: unknown): string | null => {
  if (!(error instanceof Error)) return null;
  const message = error.message.replace(/\s*\n\s*/g, ' ');
  if (KINDS.some((kind) => error instanceof kind)) return message;
  if (error instanceof EventStoreUnavailable) return `the event store can't be reached: ${message}`;
  const sqlState = sqlStateOf(error);
  return sqlState !== null && SERVERS_OWN.test(sqlState) ? `the database refuses: ${message} (${sqlState})` : null;
};

/** What goes to standard error, and the exit code. */
export const outcomeOf = (error: unknown): { readonly says: string; readonly code: 1 | 2 } => {
  const says = explained(error);
  if (says !== null) return { says, code: 2 };
  return { says: error instanceof Error ? (error.stack ?? error.message) : String(error), code: 1 };
};
