// Whether the database of DATABASE_URL answers, asked before anything is done with it, so that a wrong setting is reported in seconds.
import pg from 'pg';
import { withTimeout } from '../waiting.ts';

/** Nobody answers there, or nobody who lets us in. One line; the password is not in it. */
export class DatabaseUnreachable extends Error {
  override name = 'DatabaseUnreachable';
}

/** Over DNS, connecting, TLS, logging in and a first answer. */
const PATIENCE_MS = 4_000;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

const reasonOf = (error: unknown, where: string): string => {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `nobody listens at ${where}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host of ${where} has no address (${code})`;
  if (code === 'ENOENT') return `there is no socket at ${where}`;
  return `the database at ${where} can't be used: ${oneLine((error as Error).message) || code || 'unknown error'}`;
};

/** Throws DatabaseUnreachable after at most `patienceMs`. */
export const reachDatabase = async (connectionString: string, patienceMs = PATIENCE_MS): Promise<void> => {
  // The client's own bound lets go of the socket. It comes after ours, which says what is wrong.
  const connectionTimeoutMillis = patienceMs + 1_000;
  const client = new pg.Client({ connectionString, application_name: 'quita', connectionTimeoutMillis });
  client.on('error', () => undefined); // what is asked below rejects as well
  const where = `${client.host}:${client.port}`;
  const late = () => new DatabaseUnreachable(`DATABASE_URL: no answer from ${where} within ${patienceMs / 1_000} s`);
  try {
    await withTimeout(
      client.connect().then(() => client.query('SELECT 1')),
      patienceMs,
      late,
    );
    await client.end();
  } catch (error) {
    if (error instanceof DatabaseUnreachable) throw error;
    const said = `DATABASE_URL: ${reasonOf(error, where)}`;
    throw new DatabaseUnreachable(client.password ? said.replaceAll(client.password, '…') : said);
  } finally {
    client.end().catch(() => undefined); // does not wait for who does not answer
  }
};
