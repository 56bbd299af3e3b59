// Callbacks of institutions in PostgreSQL, stored in one durable transaction with the job that handles them.
import { createHash } from 'node:crypto';
import type { JobQueue } from '../../application/ports/jobs.ts';
import { pagesOf } from '../../application/ports/pagesOf.ts';
import type {
  CallbackFinding,
  CallbackOutcome,
  CallbackReads,
  ListedCallback,
  ProviderCallbacks,
} from '../../application/ports/providerCallbacks.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import type { SecretsKeyring } from '../secrets/keyring.ts';
import { openBody, type SealedBody, sealBody } from './callbackBodies.ts';

// The update locks the row, so that one of two deliveries of a body decides. A callback that needed an operator may be resolved by now.
const STORE = `INSERT INTO operations.provider_callbacks AS c (connection_id, body_hash, raw, key_id, sealed) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (connection_id, body_hash) DO UPDATE SET times = c.times + 1, last_received_at = now()
  RETURNING id, times, is_open AND outcome <> 'contradicted' AND handled_at < now() - interval '1 minute' AS "isAgain"`;
const REOPEN = `UPDATE operations.provider_callbacks
  SET received_at = now(), done = 0, findings = '[]', handled_at = NULL, outcome = NULL, raw = $2, key_id = $3, sealed = $4 WHERE id = $1`;

const millis = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::bigint`;

export const providerCallbacks = (db: SqlPool, jobs: JobQueue, keyring: SecretsKeyring): ProviderCallbacks => ({
  store: async (connectionId, raw, handling) => {
    await db.transaction(async (tx) => {
      const hash = createHash('sha256').update(raw).digest();
      const body = sealBody(keyring, { connection_id: connectionId, body_hash: hash }, raw);
      const sealed = [body.raw, body.key_id, body.sealed];
      const values = [connectionId, hash, ...sealed];
      const { rows } = await tx.query<{ id: number; times: number; isAgain: boolean | null }>(STORE, values);
      const row = rows[0];
      if (row === undefined || (row.times > 1 && !row.isAgain)) return;
      if (row.isAgain) await tx.query(REOPEN, [row.id, ...sealed]); // its key may have been destroyed
      await jobs.enqueue([handling(String(row.id))], tx);
    });
  },
  unhandled: async (id) => {
    const { rows } = await db.query<
      SealedBody & {
        connection_id: ConnectionId;
        body_hash: Buffer;
        age_ms: number;
        done: number;
        findings: string;
      }
    >(
      `SELECT connection_id, body_hash, raw, key_id, sealed, ${millis('clock_timestamp() - received_at')} AS age_ms, done, findings
       FROM operations.provider_callbacks WHERE id = $1 AND handled_at IS NULL`,
      [id],
    );
    return (
      rows.map((row) => ({
        id,
        connectionId: row.connection_id,
        raw: openBody(keyring, row).toString('utf8'),
        ageMs: row.age_ms,
        done: row.done,
        findings: JSON.parse(row.findings) as readonly CallbackFinding[],
      }))[0] ?? null
    );
  },
  saveProgress: async (id, done, findings) =>
    void (await db.query(
      'UPDATE operations.provider_callbacks SET done = $2, findings = $3 WHERE id = $1 AND handled_at IS NULL AND done < $2',
      [id, done, JSON.stringify(findings)],
    )),
  markHandled: async (id, outcome, findings) =>
    void (await db.query(
      `UPDATE operations.provider_callbacks SET handled_at = now(), outcome = $2, findings = $3
       WHERE id = $1 AND handled_at IS NULL`,
      [id, outcome, JSON.stringify(findings)],
    )),
  owed: (ageMs, page) => owed(db, ageMs, page),
  forget: async (ageMs) => {
    while ((await db.query(FORGET, [ageMs, FORGOTTEN_AT_ONCE])).rowCount === FORGOTTEN_AT_ONCE);
    await db.query(DESTROY_KEYS, [ageMs]);
  },
});

const FORGOTTEN_AT_ONCE = 1_000;
const FORGET = `DELETE FROM operations.provider_callbacks WHERE id IN (
  SELECT id FROM operations.provider_callbacks WHERE handled_at IS NOT NULL AND NOT is_open
    AND greatest(handled_at, resolved_at) < now() - $1 * interval '1 ms' LIMIT $2)`;

/** Destroys the keys of callbacks that still wait for an operator. Callbacks that were not handled yet keep their bodies. */
const DESTROY_KEYS = `UPDATE operations.provider_callbacks SET raw = '', key_id = NULL, sealed = NULL
  WHERE is_open AND sealed IS NOT NULL AND received_at < now() - $1 * interval '1 ms'`;

interface OwedRow {
  readonly received_at: string;
  readonly id: number;
  readonly connection_id: ConnectionId;
}
const OWED_PAGE = `SELECT received_at::text AS received_at, id, connection_id FROM operations.provider_callbacks
  WHERE handled_at IS NULL AND received_at < now() - $1 * interval '1 ms' AND (received_at, id) > ($2::timestamptz, $3)
  ORDER BY received_at, id LIMIT $4`;

const owed = (db: Sql, ageMs: number, page: number): ReturnType<ProviderCallbacks['owed']> =>
  pagesOf(
    page,
    (last: OwedRow | null) =>
      db.query<OwedRow>(OWED_PAGE, [ageMs, last?.received_at ?? '-infinity', last?.id ?? 0, page]),
    (rows) => rows.map(({ id, connection_id: connectionId }) => ({ id: String(id), connectionId })),
  );

// --- Queries for operators ---

interface ListedRow {
  readonly id: number;
  readonly connection_id: ConnectionId;
  readonly received: number;
  readonly last_received: number;
  readonly times: number;
  readonly outcome: CallbackOutcome | null;
  readonly findings: string;
  readonly resolved: number | null;
  readonly resolved_by: string;
  readonly resolved_reason: string;
  readonly total: number;
}
const COLUMNS = `id, connection_id, ${millis('received_at')} AS received, ${millis('last_received_at')} AS last_received, times, outcome,
  findings, ${millis('resolved_at')} AS resolved, resolved_by, resolved_reason`;
const listed = (row: ListedRow): ListedCallback => ({
  id: String(row.id),
  connectionId: row.connection_id,
  receivedAt: fromMillis(row.received),
  lastReceivedAt: fromMillis(row.last_received),
  times: row.times,
  outcome: row.outcome,
  findings: JSON.parse(row.findings) as readonly CallbackFinding[],
  resolved:
    row.resolved === null ? null : { at: fromMillis(row.resolved), by: row.resolved_by, reason: row.resolved_reason },
});

const IS_LISTED = `($1::text IS NULL OR connection_id = $1) AND CASE WHEN $2::text IS NULL THEN is_open ELSE outcome = $2 END`;

/** Needs no job queue, so that the command line can use it. */
export const callbackReads = (db: Sql): CallbackReads => ({
  list: async ({ connectionId, outcome }, limit) => {
    const { rows } = await db.query<ListedRow>(
      `SELECT ${COLUMNS}, count(*) OVER () AS total FROM operations.provider_callbacks WHERE ${IS_LISTED} ORDER BY id DESC LIMIT $3`,
      [connectionId, outcome, limit],
    );
    return { callbacks: rows.map(listed), total: rows[0]?.total ?? 0 };
  },
  resolve: async (connectionId, id, by, reason) => {
    const { rows } = await db.query<ListedRow>(
      `UPDATE operations.provider_callbacks SET resolved_at = now(), resolved_by = $2, resolved_reason = $3
       WHERE id = $1 AND is_open AND ($4::text IS NULL OR connection_id = $4) RETURNING ${COLUMNS}, 1 AS total`,
      [id, by, reason, connectionId],
    );
    return rows[0] ? listed(rows[0]) : null;
  },
  latest: async (connectionId) => {
    const { rows } = await db.query<{ at: number | null }>(
      `SELECT ${millis('max(last_received_at)')} AS at FROM operations.provider_callbacks WHERE connection_id = $1`,
      [connectionId],
    );
    const at = rows[0]?.at ?? null;
    return at === null ? null : fromMillis(at);
  },
  countOpen: async () => {
    const text = 'SELECT count(*) AS count FROM operations.provider_callbacks WHERE is_open';
    return (await db.query<{ count: number }>(text)).rows[0]?.count ?? 0;
  },
});
