// Nobody else works on this database: the program is stopped, and can't lead while the log moves.
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaderSession } from '../../application/ports/leaderSession.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { UsageError } from '../cli/command.ts';

/** Sessions of this command, so that they are told from those of the program. */
export const OWN_NAME = 'quita migrate-events';
/** Of the embedded database: held by this command as by the program. */
const INSTANCE_LOCK = 'quita instance lock';
const ROLES = ['projector', 'reactor'] as const;
/** The server needs a moment to see that a program has ended. */
const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** Its own name: what the connection string says wins over what the program says. */
export const named = (connectionString: string): string => {
  const url = new URL(connectionString);
  url.searchParams.set('application_name', OWN_NAME);
  return url.href;
};

const OTHERS = `SELECT DISTINCT application_name AS name FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name LIKE 'quita%' OR application_name = $1) AND application_name NOT IN ($2, $3)
  ORDER BY 1`;

/** Null when there is nobody. `connectionString`: of the program. */
const othersOn = async (db: Sql, connectionString: string): Promise<string | null> => {
  const theirs = new URL(connectionString).searchParams.get('application_name') ?? '';
  const { rows } = await db.query<{ name: string }>(OTHERS, [theirs, OWN_NAME, INSTANCE_LOCK]);
  return rows.length === 0 ? null : rows.map(({ name }) => `"${name}"`).join(', ');
};

const stopFirst = (who: string): UsageError =>
  new UsageError(`the program must be stopped while its event log moves, but ${who}`);

/** null as soon as `trouble` is. Throws UsageError with what it still says after 2 s. */
const untilNone = async (trouble: () => Promise<string | null>): Promise<void> => {
  for (const beganAtMs = performance.now(); ; ) {
    const says = await trouble();
    if (says === null) return;
    if (performance.now() - beganAtMs > PATIENCE_MS) throw stopFirst(says);
    await pause(LOOK_EVERY_MS);
  }
};

/** Throws UsageError when another process of the deployment is connected to the database. */
export const assertAlone = (db: Sql, connectionString: string): Promise<void> =>
  untilNone(async () => {
    const others = await othersOn(db, connectionString);
    return others === null ? null : `there are connections of ${others}`;
  });

/** Leads in the place of projector and reactor until the session ends. Throws UsageError when somebody does. */
export const leadInstead = async (session: LeaderSession): Promise<void> => {
  for (const role of ROLES)
    await untilNone(async () => ((await session.tryLead(role)) ? null : `a ${role} is at work`));
};
