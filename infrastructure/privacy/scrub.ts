// Removes erased data from the database's files (rule L5). PostgreSQL keeps old versions of rows until they are overwritten, in tables, in
// statistics and in the write-ahead log. A destroyed key in such an old version could still open the events that it sealed.
import { COPIES_TABLE } from '../../application/ports/readModelWork.ts';
import { isLockUnavailable, type LeaderSession, type OpenLeaderSession } from '../../application/ports/sql.ts';
import { systemStopwatch } from '../system/system.ts';

/** Tables whose rows are blanked or deleted by erasures, apart from the read models, which are rebuilt. */
const SCRUBBED_TABLES = [
  'privacy.data_keys',
  'operations.velocity_reservations',
  'operations.evidence_grants',
  'operations.provider_callbacks',
  'operations.reconciliation_findings',
  'sandbox_bank.payments',
  'sandbox_bank.cases',
  'sandbox_bank.refunds',
  'sandbox_bank.payouts',
  'sandbox_bank.facts',
  // Holds samples of columns.
  'pg_catalog.pg_statistic',
] as const;

/** The scrub is impossible here. The message contains the remedy. Nothing was lost. */
export class ScrubRefused extends Error {
  override name = 'ScrubRefused';
}

export interface ScrubReport {
  readonly tables: readonly { readonly table: string; readonly blockedMs: number }[];
  readonly walFilesOverwritten: number;
}

export interface ScrubNeeds {
  readonly openSession: OpenLeaderSession;
  /** Builds fresh copies of all read models and drops the old ones. */
  readonly rebuildAll: () => Promise<unknown>;
  readonly onProgress: (share: number, what: string) => void;
}

/** Longest wait for older transactions to end, and for a lock of a table, in milliseconds. */
const PATIENCE_MS = 60_000;
const LOCK_MS = 2_000;
const LOOK_EVERY_MS = 200;

/** Scrubs the database. Throws ScrubRefused. May be repeated at any time, and while payments continue. */
export const scrub = async ({ openSession, rebuildAll, onProgress }: ScrubNeeds): Promise<ScrubReport> => {
  const session = await openSession('scrub');
  try {
    if (!(await session.tryLead('scrub'))) throw new ScrubRefused('Another scrub is running.');
    await assertRights(session);
    await assertNoCopies(session);
    onProgress(0, 'rebuilding read models');
    await rebuildAll();
    await untilOldTransactionsEnded(session);
    const tables: ScrubReport['tables'][number][] = [];
    for (const table of SCRUBBED_TABLES) {
      onProgress(0.5 + (0.3 * tables.length) / SCRUBBED_TABLES.length, `rewriting ${table}`);
      tables.push({ table, blockedMs: await rewrite(session, table) });
    }
    onProgress(0.8, 'overwriting the write-ahead log');
    return { tables, walFilesOverwritten: await overwriteLog(session) };
  } finally {
    await session.close();
  }
};

const assertRights = async (session: LeaderSession): Promise<void> => {
  const { rows } = await session.query<{ role: string; checkpoint: boolean; monitor: boolean; foreign: string[] }>(
    `SELECT current_user AS role, pg_has_role('pg_checkpoint', 'USAGE') AS checkpoint, pg_has_role('pg_monitor', 'USAGE') AS monitor,
       array(SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
         WHERE format('%I.%I', schemaname, tablename) = ANY($1::text[]) AND schemaname <> 'pg_catalog'
           AND NOT pg_has_role(tableowner, 'USAGE')) AS foreign`,
    [SCRUBBED_TABLES],
  );
  const { role, checkpoint, monitor, foreign } = rows[0] as (typeof rows)[number];
  if (!(checkpoint && monitor))
    throw new ScrubRefused(
      `The role ${role} needs more rights. Run as a superuser: GRANT pg_checkpoint, pg_monitor TO ${role}`,
    );
  if (foreign.length > 0) throw new ScrubRefused(`The role ${role} doesn’t own these tables: ${foreign.join(', ')}`);
};

/** Schemas of `projections as-of` keep the personal data that they were built with. */
const assertNoCopies = async (session: LeaderSession): Promise<void> => {
  const text = 'SELECT schemaname AS schema FROM pg_tables WHERE tablename = $1 ORDER BY 1';
  const { rows } = await session.query<{ schema: string }>(text, [COPIES_TABLE]);
  const [first] = rows;
  if (first !== undefined)
    throw new ScrubRefused(
      `Schemas with earlier read models still hold personal data: ${rows.map(({ schema }) => schema).join(', ')}. Drop each of them: npm run cli -- projections as-of --drop --into ${first.schema}`,
    );
};

/** A transaction that began before the erasure may still see old rows, so that a rewrite would keep them. */
const untilOldTransactionsEnded = async (session: LeaderSession): Promise<void> => {
  const { rows } = await session.query<{ now: string }>('SELECT pg_current_xact_id()::text AS now');
  const text = `SELECT count(*)::int AS old FROM (
      SELECT backend_xmin AS xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
      UNION ALL SELECT xmin FROM pg_replication_slots WHERE xmin IS NOT NULL
      UNION ALL SELECT transaction FROM pg_prepared_xacts
    ) o WHERE age(o.xmin) > age($1::xid8::xid)`;
  for (let waited = 0; waited <= PATIENCE_MS; waited += LOOK_EVERY_MS) {
    const { rows: found } = await session.query<{ old: number }>(text, [rows[0]?.now]);
    if (found[0]?.old === 0) return;
    await systemStopwatch.pause(LOOK_EVERY_MS);
  }
  throw new ScrubRefused(
    'A transaction or replication slot still sees old rows. End it (pg_stat_activity, pg_replication_slots) and repeat the scrub.',
  );
};

/** Rewrites the table and returns how long it was locked. Waits for its lock in short turns, so that others don't queue behind it. */
const rewrite = async (session: LeaderSession, table: string): Promise<number> => {
  await session.query(`SET lock_timeout = ${LOCK_MS}`);
  for (let waited = 0; ; waited += LOCK_MS) {
    const begun = performance.now();
    try {
      await session.query(`VACUUM (FULL, ANALYZE) ${table}`);
      return Math.round(performance.now() - begun);
    } catch (error) {
      if (!isLockUnavailable(error)) throw error;
      if (waited >= PATIENCE_MS) throw new ScrubRefused(`${table} is locked by another transaction. Repeat the scrub.`);
      await systemStopwatch.pause(LOOK_EVERY_MS);
    }
  }
};

/** Bytes of one message in the write-ahead log. */
const MESSAGE_BYTES = 1 << 20;
const EMIT = `SELECT pg_logical_emit_message(false, 'quita', repeat('0', ${MESSAGE_BYTES})),
  pg_walfile_name(pg_current_wal_insert_lsn()) AS file`;
const FILES = `SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY name`;

/**
 * Overwrites every file of the write-ahead log that holds records from before. A checkpoint gives old files new names ahead of the current
 * one, with their content, so the log is written until it has passed them all. Returns their number.
 */
const overwriteLog = async (session: LeaderSession): Promise<number> => {
  const current = async () => (await session.query<{ file: string }>(EMIT)).rows[0]?.file ?? '';
  const files = async () => (await session.query<{ name: string }>(FILES)).rows.map(({ name }) => name);
  const first = await current();
  const writeBeyond = async (name: string): Promise<string> => {
    for (;;) {
      const file = await current();
      if (file > name) return file;
    }
  };
  const since = await writeBeyond(first);
  await session.query('CHECKPOINT');
  const ahead = await files();
  const last = ahead.at(-1) ?? since;
  await writeBeyond(last > since ? last : since);
  await session.query('CHECKPOINT');
  const kept = (await files()).filter((name) => name < since);
  if (kept.length > 0)
    throw new ScrubRefused(
      `The database keeps ${kept.length} old files of its write-ahead log, for a replication slot, wal_keep_size or a failing archive_command. Resolve that and repeat the scrub.`,
    );
  return ahead.filter((name) => name > since).length;
};
