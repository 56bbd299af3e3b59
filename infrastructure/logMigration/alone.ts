// Makes sure that the program is stopped and can't start to work while the log moves.
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaderSession, Sql } from '../../application/ports/sql.ts';
import { UsageError } from '../cli/command.ts';

/** Application name of this command's sessions, which distinguishes them from the program's. */
export const OWN_NAME = 'quita migrate-events';
/** Session that locks the embedded database; this command holds it like the program. */
const INSTANCE_LOCK = 'quita instance lock';
const ROLES = ['projector', 'reactor'] as const;
/** The server needs a moment to notice that a program has ended. */
const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** Sets the application name in the connection string, where it takes precedence over other settings. */
export const named = (connectionString: string): string => {
  const url = new URL(connectionString);
  url.searchParams.set('application_name', OWN_NAME);
  return url.href;
};

const OTHERS = `SELECT DISTINCT application_name AS name FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name LIKE 'quita%' OR application_name = $1) AND application_name NOT IN ($2, $3)
  ORDER BY 1`;

/** Returns the names of other sessions, or null if no other session is open. `connectionString` is the program's. */
const othersOn = async (db: Sql, connectionString: string): Promise<string | null> => {
  const programName = new URL(connectionString).searchParams.get('application_name') ?? '';
  const { rows } = await db.query<{ name: string }>(OTHERS, [programName, OWN_NAME, INSTANCE_LOCK]);
  return rows.length === 0 ? null : rows.map(({ name }) => `"${name}"`).join(', ');
};

const stopFirst = (who: string): UsageError => new UsageError(`stop the program before its event log moves: ${who}`);

/** Returns when `problem` returns null. Throws UsageError with its text if that takes longer than 2 s. */
const untilNone = async (problem: () => Promise<string | null>): Promise<void> => {
  for (const beganAtMs = performance.now(); ; ) {
    const says = await problem();
    if (says === null) return;
    if (performance.now() - beganAtMs > PATIENCE_MS) throw stopFirst(says);
    await pause(LOOK_EVERY_MS);
  }
};

/** Throws UsageError if another process of the deployment is connected to the database. */
export const assertAlone = (db: Sql, connectionString: string): Promise<void> =>
  untilNone(async () => {
    const others = await othersOn(db, connectionString);
    return others === null ? null : `${others} still connected`;
  });

/** Takes the leadership of projector and reactor until the session ends. Throws UsageError if another process leads. */
export const leadInstead = async (session: LeaderSession): Promise<void> => {
  for (const role of ROLES)
    await untilNone(async () => ((await session.tryLead(role)) ? null : `a ${role} is running`));
};
