// What the two ways to a running server, adopting and launching, have in common.
import pg from 'pg';
import type { Binaries } from './binaries.ts';
import type { Layout } from './layout.ts';
import type { OsUser } from './osUser.ts';
import type { Postmaster } from './postmaster.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface ServerContext {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly osUser: OsUser | null;
  readonly log: (line: string) => void;
  /** Settings of a server to be launched that replace the usual ones. */
  readonly instead: Readonly<Record<string, string>>;
}

export interface RunningServer {
  readonly postmaster: Postmaster;
  /** The folder of the socket that it listens on. */
  readonly socketDir: string;
}

/** Proves that a new session is accepted with our password. @throws the error of pg */
export const ping = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined); // the query below rejects as well
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** SQLSTATE class 28: the server is there, and our password is not its own. */
export const isWrongPassword = (code: string): boolean => code.startsWith('28');
