// Analysts as roles of PostgreSQL. A role's own settings are defaults, which its sessions can change with SET, so the limits on time and
// locks are enforced from outside, every two seconds.
import {
  ANALYST_LIMITS,
  type Analysts,
  type EndedSession,
  type GrantOutcome,
} from '../../application/ports/analysts.ts';
import { asTimestamp, type Sql, type SqlPool } from '../../application/ports/sql.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { giveLowestPriority } from './lowestPriority.ts';
import { scramVerifier } from './scramVerifier.ts';

const {
  sessions,
  statementSeconds,
  transactionSeconds,
  idleInTransactionSeconds,
  workMemMegabytes,
  tempFileMegabytes,
} = ANALYST_LIMITS;

const SCHEMA = 'analytics';

/** Settings of the role's sessions. */
const SETTINGS: { readonly [name: string]: string } = {
  statement_timeout: `'${statementSeconds}s'`,
  idle_in_transaction_session_timeout: `'${idleInTransactionSeconds}s'`,
  work_mem: `'${workMemMegabytes}MB'`,
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  default_transaction_read_only: 'on',
  search_path: SCHEMA,
  timezone: `'UTC'`,
};

/** Default permissions of every role, and how to revoke them. Advisory locks would stop Quita's own work. */
const GAPS = (role: string): readonly (readonly [check: string, says: string])[] => [
  [
    `has_database_privilege('${role}', current_database(), 'TEMPORARY')`,
    'create temporary tables: have the owner of the database run REVOKE TEMPORARY ON DATABASE … FROM PUBLIC',
  ],
  [
    `has_function_privilege('${role}', 'pg_catalog.pg_advisory_lock(bigint)', 'EXECUTE')`,
    'take advisory locks, until Quita ends the session within two seconds: see docs/production.md',
  ],
  [
    `has_function_privilege('${role}', 'pg_catalog.lo_create(oid)', 'EXECUTE')`,
    'create large objects: see docs/production.md',
  ],
];

interface Existing {
  readonly is_reserved: boolean;
  readonly is_role: boolean;
  readonly is_analyst: boolean;
  readonly account_id: AccountId | null;
  readonly owner: string;
  readonly may_create: boolean;
}

const look = async (tx: Sql, role: string): Promise<Existing> => {
  // PUBLIC is no keyword, but every role is a member of it.
  const text = `SELECT quote_ident($1) <> $1 OR $1 = 'public' AS is_reserved,
      EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS is_role, g.role IS NOT NULL AS is_analyst, g.account_id,
      me.rolname AS owner, me.rolcreaterole OR me.rolsuper AS may_create
    FROM pg_roles me LEFT JOIN analytics_access.grants g ON g.role = $1 WHERE me.rolname = current_user`;
  return (await tx.query<Existing>(text, [role])).rows[0] as Existing;
};

const refusalOf = (
  { is_reserved, is_role, is_analyst, account_id, owner, may_create }: Existing,
  accountId: AccountId | null,
): GrantOutcome | null => {
  if (is_reserved) return { kind: 'reservedName' };
  if (!may_create) return { kind: 'mayNotCreateRoles', owner };
  if (is_role && !is_analyst) return { kind: 'roleExists' };
  return is_analyst && account_id !== accountId ? { kind: 'otherAccount' } : null;
};

/** Sets a limit that not every version of PostgreSQL has, or that only a superuser may set. */
const setIfPossible = async (tx: Sql, role: string, name: string, value: string): Promise<void> => {
  const { rows } = await tx.query<{ may: boolean }>(
    `SELECT context IN ('user') OR current_setting('is_superuser') = 'on'
        OR (current_setting('server_version_num')::int >= 150000 AND has_parameter_privilege(name, 'SET')) AS may
      FROM pg_settings WHERE name = $1`,
    [name],
  );
  if (rows[0]?.may) await tx.query(`ALTER ROLE ${role} SET ${name} = '${value}'`);
};

/** Creates the role, or completes one whose database was restored without it. */
const createRole = async (tx: Sql, role: string, isRole: boolean): Promise<void> => {
  if (!isRole) await tx.query(`CREATE ROLE ${role}`);
  await tx.query(`ALTER ROLE ${role} LOGIN CONNECTION LIMIT ${sessions}`);
  for (const [name, value] of Object.entries(SETTINGS)) await tx.query(`ALTER ROLE ${role} SET ${name} = ${value}`);
  await setIfPossible(tx, role, 'transaction_timeout', `${transactionSeconds}s`);
  await setIfPossible(tx, role, 'temp_file_limit', `${tempFileMegabytes}MB`);
  await tx.query(`GRANT ${role} TO CURRENT_USER`); // to end its sessions, and to drop what it was granted
  await tx.query(`GRANT USAGE ON SCHEMA ${SCHEMA} TO ${role}`);
  await tx.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${SCHEMA} TO ${role}`);
  // A rebuild recreates the views.
  await tx.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${SCHEMA} GRANT SELECT ON TABLES TO ${role}`);
};

const REVOKE_TEMPORARY = `DO $$ BEGIN EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()); END $$`;

const gapsOf = async (tx: Sql, role: string): Promise<readonly string[]> => {
  const gaps: string[] = [];
  for (const [check, says] of GAPS(role))
    if ((await tx.query<{ may: boolean }>(`SELECT ${check} AS may`)).rows[0]?.may) gaps.push(`${role} can ${says}`);
  return gaps;
};

const grant =
  (db: SqlPool): Analysts['grant'] =>
  (role, accountId, password, { actor, at }) =>
    db.transaction(async (tx) => {
      await tx.query('LOCK TABLE analytics_access.grants IN SHARE ROW EXCLUSIVE MODE');
      const existing = await look(tx, role);
      const refusal = refusalOf(existing, accountId);
      if (refusal !== null) return refusal;
      await createRole(tx, role, existing.is_role);
      await tx.query(`ALTER ROLE ${role} PASSWORD '${scramVerifier(password)}'`);
      await tx.query(REVOKE_TEMPORARY);
      await tx.query(
        `INSERT INTO analytics_access.grants (role, account_id, granted_at, granted_by) VALUES ($1, $2, $3, $4)
          ON CONFLICT (role) DO NOTHING`,
        [role, accountId, at, actor],
      );
      return { kind: 'granted', isNew: !existing.is_analyst, gaps: await gapsOf(tx, role) };
    });

const revoke =
  (db: SqlPool): Analysts['revoke'] =>
  (role) =>
    db.transaction(async (tx) => {
      const { rowCount } = await tx.query('DELETE FROM analytics_access.grants WHERE role = $1', [role]);
      if (rowCount === 0) return false;
      const { is_role: isRole } = await look(tx, role);
      if (!isRole) return true;
      await tx.query(`ALTER ROLE ${role} NOLOGIN`);
      await tx.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
      await tx.query(`DROP OWNED BY ${role}`);
      await tx.query(`DROP ROLE ${role}`);
      return true;
    });

const list =
  (db: SqlPool): Analysts['list'] =>
  async () => {
    const { rows } = await db.query<Awaited<ReturnType<Analysts['list']>>[number]>(
      `SELECT g.role, g.account_id AS "accountId", ${asTimestamp('g.granted_at')} AS "grantedAt",
        g.granted_by AS "grantedBy", (SELECT count(*)::integer FROM pg_stat_activity a WHERE a.usename = g.role) AS sessions
      FROM analytics_access.grants g ORDER BY g.role`,
    );
    return rows;
  };

interface Session {
  readonly pid: number;
  readonly role: string;
  readonly why: EndedSession['why'] | null;
}

/** $1: seconds that a transaction may last. */
const SESSIONS = `SELECT a.pid, g.role, CASE
      WHEN a.xact_start < now() - make_interval(secs => $1) THEN 'too_long'
      WHEN EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory') THEN 'advisory_lock' END AS why
    FROM analytics_access.grants g JOIN pg_stat_activity a ON a.usename = g.role`;

const restrain =
  (db: SqlPool, isLocal: boolean, secondsMax: number): Analysts['restrain'] =>
  async () => {
    const { rows } = await db.query<Session>({ name: 'analyst_sessions', text: SESSIONS, values: [secondsMax] });
    const ended: EndedSession[] = [];
    for (const { pid, role, why } of rows) {
      if (why === null) continue;
      await db.query('SELECT pg_terminate_backend($1)', [pid]);
      ended.push({ role, why });
    }
    // A session that can't be slowed down is still bound by the limits above.
    if (isLocal) for (const { pid, why } of rows) if (why === null) await giveLowestPriority(pid);
    return ended;
  };

/** `isLocal`: the server's processes run on this machine. */
export const analysts = (db: SqlPool, isLocal: boolean, secondsMax: number = transactionSeconds): Analysts => ({
  grant: grant(db),
  revoke: revoke(db),
  list: list(db),
  restrain: restrain(db, isLocal, secondsMax),
});
