// Findings of reconciliation, in PostgreSQL.
import type {
  Discrepancy,
  Finding,
  FindingAlerts,
  FindingKind,
  FindingReads,
  MovementKey,
  ReconciliationFindings,
  Scope,
} from '../../application/ports/providerBooks.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import type { Log } from '../log/log.ts';

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const COLUMNS = `f.id, f.connection_id, f.kind, f.moved, f.reference, f.day::text AS day, ${millis('f.at')} AS at_ms, f.end_to_end_id, f.txid,
  f.payment_id, f.expected, f.found, ${millis('f.first_seen_at')} AS first_ms, ${millis('f.last_seen_at')} AS last_ms,
  ${millis('f.resolved_at')} AS resolved_ms, f.resolved_by, f.reason`;

interface Row {
  readonly id: string;
  readonly connection_id: ConnectionId;
  readonly kind: FindingKind;
  readonly moved: Finding['moved'];
  readonly reference: string;
  readonly day: string;
  readonly at_ms: number;
  readonly end_to_end_id: string | null;
  readonly txid: string | null;
  readonly payment_id: Finding['paymentId'];
  readonly expected: number | null;
  readonly found: number | null;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly resolved_ms: number | null;
  readonly resolved_by: string | null;
  readonly reason: string | null;
}
const findingOf = (row: Row): Finding => ({
  id: row.id,
  connectionId: row.connection_id,
  kind: row.kind,
  moved: row.moved,
  reference: row.reference,
  day: row.day,
  at: fromMillis(row.at_ms),
  endToEndId: row.end_to_end_id,
  txid: row.txid,
  paymentId: row.payment_id,
  expected: row.expected,
  found: row.found,
  firstSeenAt: fromMillis(row.first_ms),
  lastSeenAt: fromMillis(row.last_ms),
  resolved:
    row.resolved_ms === null
      ? null
      : { at: fromMillis(row.resolved_ms), by: row.resolved_by ?? '', reason: row.reason },
});

const NAMES = [
  ...['id', 'kind', 'moved', 'reference', 'day', 'at', 'end_to_end_id', 'txid', 'payment_id', 'expected', 'found'],
] as const;
const CASTS: { readonly [name: string]: string } = {
  day: 'date',
  at: 'timestamptz',
  expected: 'bigint',
  found: 'bigint',
};
/** A finding that an operator resolved stays resolved, unless its figures change. A finding that disappeared and is back is open again. */
const IS_OPEN_AGAIN = `f.resolved_at IS NOT NULL
    AND (f.resolved_by = 'reconciliation' OR (f.expected, f.found) IS DISTINCT FROM (excluded.expected, excluded.found))`;
const unlessOpenAgain = (column: string) => `${column} = CASE WHEN ${IS_OPEN_AGAIN} THEN NULL ELSE f.${column} END`;

const SAVE = `INSERT INTO operations.reconciliation_findings AS f
    (connection_id, id, kind, moved, reference, day, at, end_to_end_id, txid, payment_id, expected, found)
  SELECT $1, v.id, v.kind, v.moved, v.reference, v.day, v.at, v.end_to_end_id, v.txid, v.payment_id, v.expected, v.found
  FROM (SELECT ${NAMES.map((name, n) => `unnest($${n + 2}::text[])::${CASTS[name] ?? 'text'} AS ${name}`)}) v ORDER BY v.id
  ON CONFLICT (id) DO UPDATE SET last_seen_at = now(), day = excluded.day, at = excluded.at, txid = excluded.txid,
    payment_id = excluded.payment_id, expected = excluded.expected, found = excluded.found,
    ${['resolved_at', 'resolved_by', 'reason', 'alerted_at'].map(unlessOpenAgain)}`;

/** Marks findings older than their grace. Each is returned to one process only. */
const ALERT = `UPDATE operations.reconciliation_findings f SET alerted_at = now()
  FROM (SELECT unnest($1::text[]) AS id, unnest($2::text[])::bigint AS grace_ms) v
  WHERE f.id = v.id AND f.alerted_at IS NULL AND f.resolved_at IS NULL AND f.at < now() - v.grace_ms * interval '1 ms' RETURNING ${COLUMNS}`;

/** The sides agree now, so a resolved finding gets equal figures, also if one side lacked the movement. */
const RESOLVE_GONE = (inScope: string) => `UPDATE operations.reconciliation_findings f
  SET resolved_at = now(), resolved_by = 'reconciliation', expected = coalesce(f.expected, f.found), found = coalesce(f.expected, f.found)
  WHERE f.connection_id = $1 AND f.resolved_at IS NULL AND f.id <> ALL($2::text[]) AND ${inScope}`;

export const reconciliationFindings = (db: SqlPool): ReconciliationFindings => ({
  save: (connectionId, scope, discrepancies, graceMs) =>
    db.transaction(async (tx) => {
      const ids = discrepancies.map(({ id }) => id);
      if (discrepancies.length > 0) await tx.query(SAVE, [connectionId, ...columnsOf(discrepancies)]);
      await resolveGone(tx, connectionId, scope, ids);
      const graces = discrepancies.map(({ kind }) => String(graceMs(kind)));
      const { rows } = await tx.query<Row>(ALERT, [new TextArray(ids), new TextArray(graces)]);
      return rows.map(findingOf);
    }),
  open: async (connectionId, after, limit) => {
    const { rows } = await db.query<Row>(
      `SELECT ${COLUMNS} FROM operations.reconciliation_findings f
       WHERE f.connection_id = $1 AND f.resolved_at IS NULL AND f.id > $2 ORDER BY f.id LIMIT $3`,
      [connectionId, after, limit],
    );
    return rows.map(findingOf);
  },
});

const columnsOf = (discrepancies: readonly Discrepancy[]): readonly TextArray[] => {
  const cells = discrepancies.map((one) => [
    ...[one.id, one.kind, one.moved, one.reference, one.day, one.at, one.endToEndId, one.txid],
    ...[one.paymentId, one.expected, one.found],
  ]);
  return NAMES.map((_, n) => new TextArray(cells.map((row) => row[n]?.toString() ?? null)));
};

const resolveGone = async (tx: Sql, connectionId: ConnectionId, scope: Scope, ids: readonly string[]) => {
  if ('movements' in scope) {
    const keysOf = (of: (key: MovementKey) => string) => new TextArray(scope.movements.map(of));
    await tx.query(RESOLVE_GONE('(f.moved, f.reference) IN (SELECT unnest($3::text[]), unnest($4::text[]))'), [
      connectionId,
      new TextArray(ids),
      keysOf(({ moved }) => moved),
      keysOf(({ reference }) => reference),
    ]);
    return;
  }
  const { from, to } = scope;
  const days = [saoPauloDay(from), saoPauloDay(to)];
  await tx.query(RESOLVE_GONE('f.day BETWEEN $3::date AND $4::date AND f.at BETWEEN $5 AND $6'), [
    ...[connectionId, new TextArray(ids), ...days, from, to],
  ]);
};

export const findingReads = (db: Sql): FindingReads => ({
  list: async ({ connectionId, all }, limit) => {
    const { rows } = await db.query<Row & { readonly total: number }>(
      `SELECT ${COLUMNS}, count(*) OVER () AS total FROM operations.reconciliation_findings f
       WHERE ($1::text IS NULL OR f.connection_id = $1) AND ($2 OR f.resolved_at IS NULL) ORDER BY f.at DESC, f.id LIMIT $3`,
      [connectionId, all, limit],
    );
    return { findings: rows.map(findingOf), total: rows[0]?.total ?? 0 };
  },
  ofDay: async (connectionId, day) => {
    const { rows } = await db.query<Row>(
      `SELECT ${COLUMNS} FROM operations.reconciliation_findings f WHERE f.connection_id = $1 AND f.day = $2::date ORDER BY f.at, f.id`,
      [connectionId, day],
    );
    return rows.map(findingOf);
  },
  find: async (id) => {
    const text = `SELECT ${COLUMNS} FROM operations.reconciliation_findings f WHERE f.id = $1`;
    const { rows } = await db.query<Row>(text, [id]);
    return rows[0] ? findingOf(rows[0]) : null;
  },
  resolve: async (id, by, reason) => {
    const { rows } = await db.query<Row>(
      `UPDATE operations.reconciliation_findings f SET resolved_at = now(), resolved_by = $2, reason = $3
       WHERE f.id = $1 AND f.resolved_at IS NULL RETURNING ${COLUMNS}`,
      [id, by, reason],
    );
    return rows[0] ? findingOf(rows[0]) : null;
  },
  countOpen: async () => {
    const { rows } = await db.query<{ count: number }>(
      'SELECT count(*)::bigint AS count FROM operations.reconciliation_findings WHERE resolved_at IS NULL AND alerted_at IS NOT NULL',
    );
    return rows[0]!.count;
  },
});

export const findingAlerts = (log: Log): FindingAlerts => ({
  found: ({ id, connectionId: connection, kind, reference, endToEndId, txid, paymentId: payment, expected, found }) =>
    log.warn(
      { finding: id, connection, kind, reference, endToEndId, txid, payment, expected, found },
      'provider reconciliation found a difference: see `reconcile list`',
    ),
  stalled: (connection, { failures, comparedAt, reason }) =>
    log.warn({ connection, failures, comparedAt, reason }, 'provider connection could not be compared'),
});
