// Compares institutions' lists (operations.provider_items) with Quita's postings, in the database.
import type { Discrepancy, MovementKey, Scope } from '../../application/ports/providerBooks.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels/progress.ts';
import type {
  DaySums,
  Order,
  ProviderMovementReads,
  ProviderMovements,
  Unlisted,
} from '../../application/ports/readModels/providerMovements.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { fromMillis, type Timestamp, toMillis } from '../../domain/kernel/time.ts';

const CURRENT_MS = 10_000;

export const SCHEMA = 'rm_provider_movements';
const millis = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;

/** The reference of the movement that shows the returned item `i`, if Quita did not request the return. */
const OUTSIDE = `'outside/' || i.pix || '/' || i.id`;
/** The id of the movement `m` as items and findings name it, beside the Pix of a return. */
const ID_OF_MOVEMENT = `CASE WHEN m.reference LIKE 'outside/%' THEN 'outside/' || substr(m.reference, length(m.end_to_end_id) + 10)
    ELSE m.reference END`;
/** Joins the movement `m` that a listed item `i` shows. A return is identified by its id and the received Pix. */
export const MOVEMENT_OF_ITEM = `LEFT JOIN ${SCHEMA}.movements m ON m.connection_id = i.connection_id AND m.kind = i.kind
    AND m.reference = CASE WHEN i.match_id LIKE 'outside/%' THEN ${OUTSIDE} ELSE coalesce(i.match_id, i.id) END
    AND (i.kind <> 'returned' OR m.end_to_end_id = i.pix)`;
const REFERENCE = (row: string, pix: string): string =>
  `CASE ${row}.kind WHEN 'returned' THEN ${pix} || '/' ELSE '' END`;
const REFERENCE_OF_MOVEMENT = `${REFERENCE('m', "coalesce(m.end_to_end_id, '')")} || ${ID_OF_MOVEMENT}`;

/** No listed item shows the movement `m`. */
export const WITHOUT_ITEM = `NOT EXISTS (SELECT FROM operations.provider_items i WHERE i.connection_id = m.connection_id AND i.kind = m.kind
      AND i.id = m.reference AND i.pix = CASE m.kind WHEN 'returned' THEN coalesce(m.end_to_end_id, '') ELSE '' END)
    AND NOT EXISTS (SELECT FROM operations.provider_items i WHERE i.connection_id = m.connection_id AND i.match_id = ${ID_OF_MOVEMENT}
      AND i.pix = m.end_to_end_id)`;
/** A comparison found that the institution doesn't list the movement `m`. A finding that agreed later has both figures. */
export const MISSED = `EXISTS (SELECT FROM operations.reconciliation_findings f WHERE f.connection_id = m.connection_id
      AND f.reference = ${REFERENCE_OF_MOVEMENT} AND f.moved = m.kind AND f.kind = 'missing_there' AND f.found IS NULL)`;
/** The movement `m` agreed with its item, which was deleted since (oldItems.ts). Applies to movements without an item. */
const AGREED = `(EXISTS (SELECT FROM operations.reconciled_days d WHERE d.connection_id = m.connection_id AND d.day = m.day
      AND d.state IN ('clearing', 'cleared')) AND NOT ${MISSED})`;
const UNLISTED = `${WITHOUT_ITEM} AND NOT ${AGREED}`;

const signed = (row: string): string => `CASE ${row}.kind WHEN 'received' THEN ${row}.amount ELSE -${row}.amount END`;
/**
 * The item `i` without a movement belongs to another connection with the same Pix key, which compares it. A return counts as one of the
 * other connection only if that lists or recorded it, too: a removed connection lists nothing any more.
 */
export const OF_ANOTHER = `(m.reference IS NULL AND EXISTS (SELECT FROM ${SCHEMA}.movements o
      WHERE o.reference = CASE i.kind WHEN 'returned' THEN i.pix ELSE i.id END
        AND o.kind = CASE i.kind WHEN 'paid_out' THEN 'paid_out' ELSE 'received' END AND o.connection_id <> i.connection_id
        AND CASE i.kind WHEN 'returned' THEN
          EXISTS (SELECT FROM operations.provider_items s
            WHERE s.connection_id = o.connection_id AND s.id = i.id AND s.kind = i.kind AND s.pix = i.pix)
          OR EXISTS (SELECT FROM ${SCHEMA}.movements s WHERE s.reference IN (i.id, ${OUTSIDE}) AND s.kind = i.kind
            AND s.connection_id = o.connection_id AND s.end_to_end_id = i.pix)
        ELSE o.amount = i.amount END))`;
export const THEIRS = `CASE WHEN i.status = 'done' AND NOT ${OF_ANOTHER} THEN ${signed('i')} END`;
export const OURS = `CASE WHEN m.at IS NOT NULL THEN ${signed('m')} END`;

/** The kind of finding of an item and its movement; null: they agree. */
export const KIND = `CASE
      WHEN ${THEIRS} IS NULL AND ${OURS} IS NULL THEN NULL
      WHEN ${THEIRS} IS NULL THEN CASE i.kind WHEN 'returned' THEN 'return_state' ELSE 'missing_there' END
      WHEN ${OURS} IS NULL THEN CASE
        WHEN i.kind = 'received' THEN CASE WHEN i.payment_id IS NULL THEN 'unmatched' ELSE 'missing_here' END
        WHEN i.kind = 'returned' THEN CASE WHEN m.reference IS NULL THEN 'foreign_return' ELSE 'return_state' END
        WHEN m.reference IS NULL THEN 'unmatched' ELSE 'missing_here' END
      WHEN ${THEIRS} <> ${OURS} THEN 'amount'
      WHEN i.match_id LIKE 'outside/%' AND NOT i.is_med THEN 'foreign_return'
      WHEN i.kind = 'received' AND i.payment_id IS DISTINCT FROM m.payment_id THEN 'charge' END`;

/** Selects differences that listed items show. `where` limits the items `i`. */
const OF_ITEMS = (where: string): string => `
    SELECT ${KIND} AS kind, i.kind AS moved, ${REFERENCE('i', 'i.pix')} || i.id AS reference, i.day::text AS day, i.at,
      CASE i.kind WHEN 'returned' THEN i.pix ELSE i.end_to_end_id END AS end_to_end_id, i.txid,
      coalesce(m.payment_id, i.payment_id) AS payment_id, ${OURS} AS expected, ${THEIRS} AS found
    FROM operations.provider_items i ${MOVEMENT_OF_ITEM} WHERE i.connection_id = $1 AND ${where} AND ${KIND} IS NOT NULL`;
/** Selects posted movements that the institution does not list. `where` limits the movements `m`. */
const OF_MOVEMENTS = (where: string): string => `
    SELECT 'missing_there' AS kind, m.kind AS moved, ${REFERENCE_OF_MOVEMENT} AS reference,
      m.day::text AS day, m.at, m.end_to_end_id, NULL AS txid, m.payment_id, ${OURS} AS expected, NULL::bigint AS found
    FROM ${SCHEMA}.movements m WHERE m.connection_id = $1 AND m.kind <> 'fee' AND m.at IS NOT NULL AND ${where} AND ${UNLISTED}`;

interface Row {
  readonly id: string;
  readonly kind: Discrepancy['kind'];
  readonly moved: Discrepancy['moved'];
  readonly reference: string;
  readonly day: string;
  readonly at_ms: number;
  readonly end_to_end_id: string | null;
  readonly txid: string | null;
  readonly payment_id: Discrepancy['paymentId'];
  readonly expected: number | null;
  readonly found: number | null;
}
const discrepancyOf = (row: Row): Discrepancy => ({
  id: row.id,
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
});

const ID = `'rf_' || left(encode(sha256(convert_to(concat_ws(' ', $1::text, f.kind, f.moved, f.reference), 'UTF8')), 'hex'), 24)`;

/** A return belongs to the charge of the received Pix; a finding without a txid has that of its charge. */
const NAMED = (
  found: string,
): string => `SELECT ${ID} AS id, f.kind, f.moved, f.reference, f.day, ${millis('f.at')} AS at_ms, f.end_to_end_id,
    coalesce(f.txid, p.txid) AS txid, coalesce(f.payment_id, r.payment_id) AS payment_id, f.expected, f.found
  FROM (${found}) f
  LEFT JOIN ${SCHEMA}.movements r ON f.moved = 'returned' AND r.connection_id = $1 AND r.kind = 'received' AND r.reference = f.end_to_end_id
  LEFT JOIN ${SCHEMA}.payment_connections p ON p.payment_id = coalesce(f.payment_id, r.payment_id)
  ORDER BY f.at, f.moved, f.reference`;

/** `[$2, $3]` is a period. The days limit the scan of the index. */
const PERIOD = (row: string): string => `${row}.day BETWEEN $4::date AND $5::date AND ${row}.at BETWEEN $2 AND $3`;
const IN_PERIOD = NAMED(`${OF_ITEMS(PERIOD('i'))} UNION ALL ${OF_MOVEMENTS(PERIOD('m'))}`);

/** `$2` to `$4`: kinds, ids and received Pix of movements. One index lookup each. */
const OF_KEYS =
  NAMED(`SELECT found.* FROM unnest($2::text[], $3::text[], $4::text[]) AS k(kind, id, pix) CROSS JOIN LATERAL (
    ${OF_ITEMS('i.id = k.id AND i.kind = k.kind AND i.pix = k.pix')} OFFSET 0) found
  UNION ALL SELECT found.* FROM unnest($2::text[], $3::text[], $4::text[]) AS k(kind, id, pix) CROSS JOIN LATERAL (
    ${OF_MOVEMENTS("m.reference = CASE WHEN k.id LIKE 'outside/%' THEN 'outside/' || k.pix || substr(k.id, 8) ELSE k.id END AND m.kind = k.kind AND (k.kind <> 'returned' OR coalesce(m.end_to_end_id, '') = k.pix)")} OFFSET 0) found`);

const idOf = ({ moved, reference }: MovementKey): readonly [id: string, pix: string] => {
  if (moved !== 'returned') return [reference, ''];
  // The end-to-end id has no slash; the id of a return may be any text.
  const at = reference.indexOf('/');
  return [reference.slice(at + 1), reference.slice(0, at)];
};

interface Limits {
  /** Conditions on items `i`. */
  readonly where: string;
  readonly values: readonly unknown[];
}
/** Limits the items; `$1` is the connection. */
const limitsOf = (scope: Scope): Limits => {
  if ('movements' in scope)
    return {
      where: '(i.id, i.kind, i.pix) IN (SELECT unnest($3::text[]), unnest($2::text[]), unnest($4::text[]))',
      values: keysOf(scope.movements),
    };
  const { from, to } = scope;
  return { where: PERIOD('i'), values: [from, to, saoPauloDay(from), saoPauloDay(to)] };
};
/** Each movement once: it may have two open findings, while its item changes its time and its kind of finding. */
const keysOf = (movements: readonly MovementKey[]): readonly TextArray[] => {
  const unique = new Map(movements.map((key) => [`${key.moved} ${key.reference}`, key]));
  const keys = [...unique.values()].map((key) => [key.moved, ...idOf(key)] as const);
  return [0, 1, 2].map((n) => new TextArray(keys.map((key) => key[n as 0])));
};

/** Each return is matched with one dispute of its Pix that took the same amount, and each dispute with one return: the nth with the nth. */
const MATCH_DISPUTES = (where: string): string => `UPDATE operations.provider_items u SET match_id = v.reference
  FROM (SELECT m.reference, i.id, i.pix FROM (
      SELECT i.id, i.pix, i.amount, r.payment_id, row_number() OVER (PARTITION BY i.pix, i.amount ORDER BY i.at, i.id) AS n
      FROM operations.provider_items i
      JOIN ${SCHEMA}.movements r ON r.reference = i.pix AND r.kind = 'received' AND r.connection_id = i.connection_id
      WHERE i.connection_id = $1 AND ${where} AND i.kind = 'returned' AND i.is_med AND i.match_id IS NULL AND i.status = 'done') i
    CROSS JOIN LATERAL (SELECT m.reference FROM ${SCHEMA}.movements m WHERE m.payment_id = i.payment_id AND m.kind = 'returned'
      AND m.end_to_end_id = i.pix AND m.amount = i.amount AND m.reference LIKE 'case/%'
      AND NOT EXISTS (SELECT FROM operations.provider_items o WHERE o.connection_id = $1 AND o.match_id = m.reference AND o.pix = i.pix)
      ORDER BY m.at, m.reference OFFSET i.n - 1 LIMIT 1) m) v
  WHERE u.connection_id = $1 AND u.kind = 'returned' AND u.id = v.id AND u.pix = v.pix`;
/** A return that Quita did not request and has recorded. */
const MATCH_OUTSIDE = (where: string): string => `UPDATE operations.provider_items u SET match_id = v.reference
  FROM (SELECT 'outside/' || i.id AS reference, i.id, i.pix FROM operations.provider_items i
    JOIN ${SCHEMA}.movements m ON m.reference = ${OUTSIDE} AND m.kind = 'returned' AND m.connection_id = i.connection_id
      AND m.end_to_end_id = i.pix
    WHERE i.connection_id = $1 AND ${where} AND i.kind = 'returned' AND i.match_id IS NULL) v
  WHERE u.connection_id = $1 AND u.kind = 'returned' AND u.id = v.id AND u.pix = v.pix`;
const NOTE_DAYS = (where: string): string => `UPDATE operations.provider_items u SET posted_on = v.posted_on
  FROM (SELECT i.id, i.kind, i.pix, nullif(m.day, i.day) AS posted_on FROM operations.provider_items i ${MOVEMENT_OF_ITEM}
    WHERE i.connection_id = $1 AND ${where} AND i.posted_on IS DISTINCT FROM nullif(m.day, i.day)) v
  WHERE u.connection_id = $1 AND u.kind = v.kind AND u.id = v.id AND u.pix = v.pix`;

const match = async (db: Sql, connectionId: ConnectionId, scope: Scope): Promise<void> => {
  const { where, values } = limitsOf(scope);
  for (const text of [MATCH_OUTSIDE(where), MATCH_DISPUTES(where), NOTE_DAYS(where)])
    await db.query(text, [connectionId, ...values]);
};

interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

/** `limit` null: all. */
const inPeriod = async (
  db: Sql,
  connectionId: ConnectionId,
  { from, to }: Period,
  limit: number | null,
): Promise<readonly Discrepancy[]> => {
  const values = [connectionId, from, to, saoPauloDay(from), saoPauloDay(to), limit];
  const { rows } = await db.query<Row>(`${IN_PERIOD} LIMIT $6`, values);
  return rows.map(discrepancyOf);
};

const discrepancies = async (db: Sql, connectionId: ConnectionId, { from, to }: Period, limit: number) => {
  const found = await inPeriod(db, connectionId, { from, to }, limit);
  const last = found.at(-1)?.at;
  if (last === undefined || found.length < limit) return { discrepancies: found, complete: to };
  // The limit may have cut differences of the last millisecond.
  if (last > from)
    return { discrepancies: found.filter(({ at }) => at < last), complete: fromMillis(toMillis(last) - 1) };
  return { discrepancies: await inPeriod(db, connectionId, { from, to: from }, null), complete: from };
};

/** `derived`: the pool that writes derived data. */
export const providerMovements = (db: Sql, derived: Sql, caughtUp: CaughtUp): ProviderMovements => ({
  assertCurrent: async () => {
    if (!(await caughtUp('providerMovements', CURRENT_MS)).isCaughtUp)
      throw new ReadModelsBehind('movements of a provider connection could not be compared');
  },
  unrecorded: async (endToEndIds) => {
    const { rows } = await db.query<{ id: string }>(
      `SELECT r.id FROM unnest($1::text[]) AS r(id)
       WHERE NOT EXISTS (SELECT FROM ${SCHEMA}.movements m WHERE m.reference = r.id AND m.kind = 'received')`,
      [new TextArray(endToEndIds)],
    );
    return new Set(rows.map(({ id }) => id));
  },
  unlisted: (connectionId, moved, period, after, limit) => unlisted(db, connectionId, moved, period, after, limit),
  match: (connectionId, scope) => match(derived, connectionId, scope),
  discrepancies: (connectionId, period, limit) => discrepancies(db, connectionId, period, limit),
  discrepanciesOf: async (connectionId, movements) => {
    const { rows } = await db.query<Row>(OF_KEYS, [connectionId, ...keysOf(movements)]);
    return rows.map(discrepancyOf);
  },
  orders: async (connectionId, ids) => {
    const { rows } = await db.query<{
      reference: string;
      account_id: Order['accountId'];
      payment_id: Order['paymentId'];
    }>(
      `SELECT reference, account_id, payment_id FROM ${SCHEMA}.movements
       WHERE reference = ANY($2::text[]) AND connection_id = $1 AND kind IN ('returned', 'paid_out')`,
      [connectionId, new TextArray(ids)],
    );
    return rows.map(({ reference: id, account_id: accountId, payment_id: paymentId }) => ({
      id,
      accountId,
      paymentId,
    }));
  },
});

interface UnlistedRow {
  readonly reference: string;
  readonly account_id: Unlisted['accountId'];
  readonly payment_id: Unlisted['paymentId'];
  readonly end_to_end_id: string | null;
  readonly amount: number;
  readonly at_ms: number;
}
const unlisted = async (
  db: Sql,
  connectionId: ConnectionId,
  moved: 'returned' | 'paid_out',
  { from, to }: Period,
  after: string,
  limit: number,
): Promise<readonly Unlisted[]> => {
  const { rows } = await db.query<UnlistedRow>(
    `SELECT m.reference, m.account_id, m.payment_id, m.end_to_end_id, m.amount, ${millis('m.at')} AS at_ms FROM ${SCHEMA}.movements m
     WHERE m.connection_id = $1 AND m.at IS NOT NULL AND ${PERIOD('m')} AND m.kind = $6 AND m.reference > $7
       AND m.reference NOT LIKE ALL ('{case/%,outside/%}') AND ${UNLISTED} ORDER BY m.reference LIMIT $8`,
    [connectionId, from, to, saoPauloDay(from), saoPauloDay(to), moved, after, limit],
  );
  return rows.map((row) => ({
    moved,
    reference: row.reference,
    accountId: row.account_id,
    paymentId: row.payment_id,
    endToEndId: row.end_to_end_id,
    amount: row.amount,
    at: fromMillis(row.at_ms),
  }));
};

// --- Sums of a day ---

/** Sums of Quita's clearing account before a day, by the institution's day of each movement if it differs from Quita's. */
const OPENING = `coalesce((SELECT sum(CASE kind WHEN 'received' THEN amount ELSE -amount END) FROM ${SCHEMA}.days
      WHERE connection_id = $1 AND day < $2::date AND kind <> 'fee'), 0)
    + coalesce((SELECT sum(${signed('m')} * CASE WHEN i.day < $2::date THEN 1 ELSE -1 END)
        FROM operations.provider_items i ${MOVEMENT_OF_ITEM}
        WHERE i.connection_id = $1 AND i.posted_on IS NOT NULL AND (i.day < $2::date) <> (i.posted_on < $2::date)), 0)`;

const SUMS = `WITH moved AS (
    SELECT i.kind, ${THEIRS} AS theirs, ${OURS} AS ours FROM operations.provider_items i ${MOVEMENT_OF_ITEM}
      WHERE i.connection_id = $1 AND i.day = $2::date
    UNION ALL
    SELECT m.kind, CASE WHEN ${AGREED} THEN ${OURS} END, ${OURS} FROM ${SCHEMA}.movements m
      WHERE m.connection_id = $1 AND m.day = $2::date AND m.kind <> 'fee' AND m.at IS NOT NULL AND ${WITHOUT_ITEM})
  SELECT (${OPENING})::bigint AS opening,
    coalesce(sum(theirs) FILTER (WHERE kind = 'received'), 0)::bigint AS received,
    coalesce(-sum(theirs) FILTER (WHERE kind = 'returned'), 0)::bigint AS returned,
    coalesce(-sum(theirs) FILTER (WHERE kind = 'paid_out'), 0)::bigint AS "paidOut",
    coalesce((SELECT amount FROM ${SCHEMA}.days WHERE connection_id = $1 AND day = $2::date AND kind = 'fee'), 0)::bigint AS fees,
    coalesce(sum(ours), 0)::bigint AS ours
  FROM moved`;

export const movementReads = (db: Sql): ProviderMovementReads => ({
  discrepancies: (connectionId, period) => inPeriod(db, connectionId, period, null),
  sums: async (connectionId, day): Promise<DaySums> => {
    const { rows } = await db.query<Omit<DaySums, 'closing' | 'difference'> & { ours: number }>(SUMS, [
      connectionId,
      day,
    ]);
    const { opening, received, returned, paidOut, fees, ours } = rows[0]!;
    const difference = received - returned - paidOut - ours;
    return { opening, received, returned, paidOut, fees, closing: opening + ours, difference };
  },
});
