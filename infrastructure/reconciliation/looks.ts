// The progress of comparisons, and the items that institutions list, in PostgreSQL.
import type {
  ListedItem,
  Look,
  ReconciliationLooks,
  ReconciliationRuns,
} from '../../application/ports/providerBooks.ts';
import { type Sql, type SqlPool, TextArray } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';

const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const COLUMNS = `connection_id, name, version, number, ${millis('until')} AS until_ms, ${millis('target')} AS target_ms, step, cursor,
  ${millis('started_at')} AS started_ms`;

interface Row {
  readonly connection_id: ConnectionId;
  readonly name: Look['name'];
  readonly version: number;
  readonly number: number;
  readonly until_ms: number;
  readonly target_ms: number;
  readonly step: Look['step'];
  readonly cursor: string | null;
  readonly started_ms: number;
}
const lookOf = (row: Row): Look => ({
  connectionId: row.connection_id,
  name: row.name,
  version: row.version,
  number: row.number,
  until: fromMillis(row.until_ms),
  target: fromMillis(row.target_ms),
  step: row.step,
  cursor: row.cursor,
  startedAt: fromMillis(row.started_ms),
});
const firstOf = ({ rows }: { readonly rows: readonly Row[] }): Look | null => (rows[0] ? lookOf(rows[0]) : null);

export const reconciliationLooks = (db: SqlPool): ReconciliationLooks => ({
  of: async (connectionId) => {
    const text = `SELECT ${COLUMNS} FROM operations.reconciliation_looks WHERE connection_id = $1`;
    return (await db.query<Row>(text, [connectionId])).rows.map(lookOf);
  },
  start: async (before, { connectionId, name, until, target }) =>
    firstOf(
      await db.query<Row>(
        `INSERT INTO operations.reconciliation_looks AS l (connection_id, name, version, number, until, target, step, started_at)
         SELECT $1, $2, 1, nextval('operations.reconciliation_look_numbers'), $3, $4, 'received', now() WHERE $5::bigint IS NULL
         ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [connectionId, name, until, target, before?.version ?? null],
      ),
    ) ??
    (before === null
      ? null
      : firstOf(
          await db.query<Row>(
            `UPDATE operations.reconciliation_looks SET version = version + 1, number = nextval('operations.reconciliation_look_numbers'), until = $3, target = $4,
               step = 'received', cursor = NULL, started_at = now()
             WHERE connection_id = $1 AND name = $2 AND version = $5 AND step = 'done' RETURNING ${COLUMNS}`,
            [connectionId, name, until, target, before.version],
          ),
        )),
  advance: (look, next, items) =>
    db.transaction(async (tx) => {
      const after = firstOf(
        await tx.query<Row>(
          `UPDATE operations.reconciliation_looks SET version = version + 1, until = $4, step = $5, cursor = $6
           WHERE connection_id = $1 AND name = $2 AND version = $3 RETURNING ${COLUMNS}`,
          [look.connectionId, look.name, look.version, next.until, next.step, next.cursor],
        ),
      );
      if (after !== null && items.length > 0) await saveItems(tx, look, items);
      return after;
    }),
  returnsOutside: async ({ connectionId, number }, from, to, after, limit) => {
    const { rows } = await db.query<{ reference: string }>(
      `SELECT pix || '/' || id AS reference FROM operations.provider_items
       WHERE connection_id = $1 AND look = $2 AND kind = 'returned' AND at NOT BETWEEN $3 AND $4 AND pix || '/' || id > $5
       ORDER BY 1 LIMIT $6`,
      [connectionId, number, from, to, after, limit],
    );
    return rows.map(({ reference }) => ({ moved: 'returned', reference }));
  },
  // An item that can't be read has no amount, and its time may be that of a look, so other looks would not list it at that time.
  forgetVanished: async ({ connectionId, number }, from, to) => {
    await db.query(
      `DELETE FROM operations.provider_items WHERE connection_id = $1 AND day BETWEEN $2::date AND $3::date AND at BETWEEN $4 AND $5
         AND kind IN ('received', 'paid_out') AND look < $6 AND amount > 0`,
      [connectionId, saoPauloDay(from), saoPauloDay(to), from, to, number],
    );
  },
});

const NAMES = [
  ...['kind', 'id', 'pix', 'end_to_end_id', 'txid', 'payment_id', 'amount', 'status', 'is_med', 'at', 'day'],
] as const;
const CASTS: { readonly [name: string]: string } = {
  amount: 'bigint',
  is_med: 'boolean',
  at: 'timestamptz',
  day: 'date',
};
const CHANGING = ['end_to_end_id', 'txid', 'payment_id', 'amount', 'status', 'is_med', 'at', 'day', 'look'];

/** An item listed twice on one page is saved once. */
const saveItems = (tx: Sql, { connectionId, number }: Look, items: readonly ListedItem[]) => {
  const unique = [...new Map(items.map((item) => [`${item.kind} ${item.pix} ${item.id}`, item])).values()];
  const cells = unique.map((item) => [
    ...[item.kind, item.id, item.pix, item.endToEndId, item.txid, item.paymentId, String(item.amount), item.status],
    ...[String(item.isMed), item.at, saoPauloDay(item.at)],
  ]);
  return tx.query(
    `INSERT INTO operations.provider_items AS i (connection_id, look, ${NAMES})
     SELECT $1, $2, ${NAMES.map((name, n) => `unnest($${n + 3}::text[])::${CASTS[name] ?? 'text'}`)}
     ON CONFLICT (connection_id, id, kind, pix) DO UPDATE SET ${CHANGING.map((name) => `${name} = excluded.${name}`)}`,
    [connectionId, number, ...NAMES.map((_, n) => new TextArray(cells.map((row) => row[n] ?? null)))],
  );
};

interface RunRow {
  readonly compared_ms: number | null;
  readonly requested_ms: number | null;
  readonly retry_ms: number | null;
  readonly failures: number | null;
}
const timestampOf = (ms: number | null): Timestamp | null => (ms === null ? null : fromMillis(ms));
/** Returns the time, or null if it is far in the future: it was written while the database's clock was ahead. */
const pastOf = (column: string) => `CASE WHEN ${column} <= now() + interval '1 hour' THEN ${column} END`;
/** Stands for all connections. */
const ALL = '';

export const reconciliationRuns = (db: Sql): ReconciliationRuns => ({
  request: async (connectionId) => {
    const { rows } = await db.query<{ ms: number }>(
      `INSERT INTO operations.reconciliation_requests AS r (connection_id, requested_at) VALUES ($1, now())
       ON CONFLICT (connection_id) DO UPDATE SET requested_at = excluded.requested_at
       RETURNING ceil(extract(epoch FROM requested_at) * 1000)::bigint AS ms`,
      [connectionId ?? ALL],
    );
    return fromMillis(rows[0]!.ms);
  },
  stateOf: async (connectionId) => {
    const { rows } = await db.query<RunRow>(
      `SELECT ${millis(pastOf('r.compared_at'))} AS compared_ms, ${millis(pastOf('r.retry_at'))} AS retry_ms, r.failures,
         (SELECT ceil(extract(epoch FROM max(${pastOf('q.requested_at')})) * 1000)::bigint FROM operations.reconciliation_requests q
          WHERE q.connection_id IN ($1, '${ALL}')) AS requested_ms
       FROM (VALUES ($1)) AS c(id) LEFT JOIN operations.reconciliation_runs r ON r.connection_id = c.id`,
      [connectionId],
    );
    const row = rows[0]!;
    return {
      comparedAt: timestampOf(row.compared_ms),
      requestedAt: timestampOf(row.requested_ms),
      retryAt: timestampOf(row.retry_ms),
      failures: row.failures ?? 0,
    };
  },
  now: async () => fromMillis((await db.query<{ ms: number }>(`SELECT ${millis('now()')} AS ms`)).rows[0]!.ms),
  completed: async (connectionId, startedAt) => {
    await db.query(
      `INSERT INTO operations.reconciliation_runs AS r (connection_id, compared_at) VALUES ($1, $2)
       ON CONFLICT (connection_id) DO UPDATE SET compared_at = greatest(${pastOf('r.compared_at')}, excluded.compared_at), retry_at = NULL, failures = 0`,
      [connectionId, startedAt],
    );
  },
  failed: async (connectionId, retryAt) => {
    await db.query(
      `INSERT INTO operations.reconciliation_runs AS r (connection_id, retry_at, failures) VALUES ($1, $2, 1)
       ON CONFLICT (connection_id) DO UPDATE SET retry_at = excluded.retry_at, failures = r.failures + 1`,
      [connectionId, retryAt],
    );
  },
  known: async () => {
    const text = 'SELECT connection_id FROM operations.reconciliation_runs ORDER BY connection_id';
    return (await db.query<{ connection_id: ConnectionId }>(text)).rows.map((row) => row.connection_id);
  },
});
