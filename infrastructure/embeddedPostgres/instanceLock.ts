// The lock inside the database: at most one live program works on it (design.md §9).
import pg from 'pg';
import { codeOf } from './error.ts';

/** Key of the session advisory lock, in the space of two integers: 'QUIT', 'A'. Nobody else uses the first one. */
const KEY = [0x51554954, 0x41] as const;
/** A session of a program killed a moment ago may linger until its backend sees the closed socket. */
const PATIENCE_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface InstanceLock {
  /** Gives it back. A second call answers the same promise. */
  release(): Promise<void>;
}

/**
 * Takes the instance lock on a connection of its own and holds it as long as that connection lives.
 * null when another live program still holds it after 2 s.
 * `onLost` is called at most once, when the connection breaks before `release`: from then on another may have the lock.
 * @throws the error of pg when the database can't be reached
 */
export async function acquireInstanceLock(
  connectionString: string,
  options: { onLost?: (reason: Error) => void } = {},
): Promise<InstanceLock | null> {
  const client = new pg.Client({
    connectionString,
    application_name: 'quita instance lock',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  let held = false;
  const lost = (reason: Error): void => {
    if (!held) return;
    held = false;
    options.onLost?.(reason);
  };
  client.on('error', lost); // without a handler, a broken connection would end the program
  client.on('end', () => lost(new Error('the connection of the instance lock was closed')));
  try {
    await client.connect();
    await client.query(
      `SELECT set_config('lock_timeout', $1, false), set_config('statement_timeout', '0', false),
              set_config('idle_session_timeout', '0', false)`,
      [String(PATIENCE_MS)],
    );
    await client.query('SELECT pg_advisory_lock($1, $2)', [...KEY]);
  } catch (error) {
    await client.end().catch(() => undefined);
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return null;
    throw error;
  }
  held = true;
  let released: Promise<void> | undefined;
  return {
    release: () => {
      held = false;
      released ??= client.end();
      return released;
    },
  };
}
