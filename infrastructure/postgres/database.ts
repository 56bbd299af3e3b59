// The database: the embedded one in DATA_DIR, or the one of DATABASE_URL.

import pg from 'pg';
import { type Config, ConfigError } from '../config/config.ts';
import { acquireInstanceLock, startEmbeddedPostgres } from '../embeddedPostgres/embeddedPostgres.ts';
import type { Log } from '../log/log.ts';
import { withTimeout } from '../waiting.ts';

export interface Database {
  readonly connectionString: string;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

export const openDatabase = async (config: Config, log: Log, onLost: (error: Error) => void): Promise<Database> => {
  if (config.databaseUrl !== null) {
    await reachDatabase(config.databaseUrl);
    return { connectionString: config.databaseUrl, isEmbedded: false, close: async () => undefined };
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
  const { connectionString } = postgres;
  const lock = await acquireInstanceLock(connectionString, {
    onLost: (reason) => onLost(new Error(`the embedded database was lost: ${reason.message}`)),
  });
  if (lock === null) {
    await postgres.stop();
    throw new ConfigError(`DATA_DIR ${config.dataDir} is in use by another program`);
  }
  return {
    connectionString,
    isEmbedded: true,
    close: async () => {
      await lock.release();
      await postgres.stop();
    },
  };
};

// --- Checks that the database of DATABASE_URL answers before anything else uses it, so that a wrong setting is reported in seconds ---

/** The database does not answer, rejects the login, or is too old. The message is one line without the password. */
export class DatabaseUnreachable extends Error {
  override name = 'DatabaseUnreachable';
}

/** The first version with all features that Quita uses. */
export const POSTGRES_MIN = 14;

/** Covers DNS, connecting, TLS, login and the first answer. */
const PATIENCE_MS = 4_000;

const VERSION = "SELECT current_setting('server_version') AS version";

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

const reasonOf = (error: unknown, where: string): string => {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens at ${where}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${where} has no address (${code})`;
  if (code === 'ENOENT') return `there is no socket at ${where}`;
  return `the database at ${where} can't be used: ${oneLine((error as Error).message) || code || 'unknown error'}`;
};

/** Resolves when the database answers and is new enough. Throws DatabaseUnreachable after at most `patienceMs`. */
export const reachDatabase = async (connectionString: string, patienceMs = PATIENCE_MS): Promise<void> => {
  // The client's own timeout closes the socket. It comes after the one below, which has the better message.
  const connectionTimeoutMillis = patienceMs + 1_000;
  const client = new pg.Client({ connectionString, application_name: 'quita', connectionTimeoutMillis });
  client.on('error', () => undefined); // the calls below reject as well
  const where = `${client.host}:${client.port}`;
  const late = () => new DatabaseUnreachable(`DATABASE_URL: no answer from ${where} within ${patienceMs / 1_000} s`);
  try {
    const { rows } = await withTimeout(
      client.connect().then(() => client.query<{ version: string }>(VERSION)),
      patienceMs,
      late,
    );
    const version = rows[0]?.version ?? '';
    if (Number.parseInt(version, 10) < POSTGRES_MIN)
      throw new DatabaseUnreachable(
        `DATABASE_URL: the server at ${where} is PostgreSQL ${version}, and Quita needs PostgreSQL ${POSTGRES_MIN} or newer`,
      );
    await client.end();
  } catch (error) {
    if (error instanceof DatabaseUnreachable) throw error;
    const said = `DATABASE_URL: ${reasonOf(error, where)}`;
    throw new DatabaseUnreachable(client.password ? said.replaceAll(client.password, '…') : said);
  } finally {
    client.end().catch(() => undefined); // not awaited, because the server may not answer
  }
};
