// Lists of deliveries for merchants: with totals, single ones, and counts. Deliveries with events are in the read model, all
// others in operations.waiting_deliveries.
import type { DeliveryFilter, DeliveryViews, ListedDelivery } from '../../application/ports/readModels/views.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { MESSAGE_FORM } from '../../domain/kernel/publisher.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { DeliveryStatus } from '../../domain/presentation/delivery.ts';
import type { ColumnValues } from '../engine/aggregateTable.ts';
import { combinationHashOf, deliveryOf, isOfTenant } from './projection.ts';
import { hasNoTimer, IS_UNTRIED, untriedHashOf } from './untried.ts';

/** Returns a condition for deliveries with an attempt in progress: they are in a running job ($1) and have no timer. */
const isUnderWay = (id: string): string => `(${id} = ANY($1::text[]) AND ${hasNoTimer(id)})`;

const COLUMNS = `d.id, d.of_stream, d.of_revision, d.payment_id, d.resend, d.form, d.event_type, d.endpoint_id, d.status, d.attempts,
  d.round, d.is_probe, d.last_status_code, d.last_failure, d.target, d.scheduled_at, d.updated_at, d.next_attempt_at`;
/** The same columns of an untried delivery, whose body has the current form. */
const UNTRIED_COLUMNS = `s.id, s.of_stream, s.of_revision, s.payment_id, s.resend, ${MESSAGE_FORM} AS form, s.event_type,
  coalesce(s.endpoint_id, '') AS endpoint_id, 'PENDING' AS status, 0 AS attempts,
  NULL::text AS round, CASE WHEN s.resend > 0 THEN 1 END AS is_probe, NULL::integer AS last_status_code, NULL::text AS last_failure,
  s.target, s.scheduled_at, s.scheduled_at AS updated_at, s.scheduled_at AS next_attempt_at`;

/** Columns of a listed delivery. */
const LISTED = `d.id, d.of_stream, d.of_revision, d.payment_id, d.resend, d.form, d.event_type, d.endpoint_id, d.status, d.attempts,
  d.round, d.is_probe, d.last_status_code, d.last_failure, d.target, ${asTimestamp('d.scheduled_at')} AS scheduled_at, ${asTimestamp('d.updated_at')} AS updated_at,
  ${asTimestamp('d.next_attempt_at')} AS next_attempt_at, (d.status = 'PENDING' AND ${isUnderWay('d.id')}) AS is_under_way,
  (SELECT ${asTimestamp('t.goes_at')} FROM operations.delivery_turns t WHERE t.delivery_id = d.id) AS due_at,
  EXISTS (SELECT FROM rm_webhook_endpoints.endpoints e WHERE e.id = d.endpoint_id AND e.status = 'inactive') AS is_paused`;

type ListedRow = ColumnValues & {
  readonly id: DeliveryId;
  readonly is_under_way: boolean;
  readonly is_paused: boolean;
  readonly due_at: Timestamp | null;
};
const listedOf = ({
  id,
  is_under_way: isUnderWay,
  is_paused: isPaused,
  due_at: dueAt,
  ...row
}: ListedRow): ListedDelivery => ({
  id,
  state: deliveryOf(row),
  now: { isUnderWay, isPaused, dueAt },
});

const NEWEST_FIRST = 'ORDER BY scheduled_at DESC, id';

/** $2 account, $3 mode. */
const IS_OF_TENANT = isOfTenant('d', '$2::text', '$3::text');

/** Returns the parts of a list's statements. $1 is the running ids, $2 account, $3 mode; `add` adds further values. */
const partsOf = ({ status, eventType, endpointId }: DeliveryFilter, add: (value: unknown) => string) => {
  const equals: string[] = [];
  if (eventType !== undefined) equals.push(`event_type = ${add(eventType)}`);
  if (endpointId !== undefined) equals.push(`endpoint_id = ${add(endpointId)}`);
  const conditions = (table: string, ...more: readonly string[]): string =>
    [`${table}.account_id = $2 AND ${table}.mode = $3`, ...equals.map((one) => `${table}.${one}`), ...more].join(
      ' AND ',
    );
  const isCounted = status !== undefined && status !== 'PROCESSING';
  return {
    status,
    hasFilter: equals.length > 0,
    conditions,
    counts: conditions('c', ...(isCounted ? [`c.status = ${add(status)}`] : [])),
    /** Only pending deliveries can have an attempt in progress. */
    isNotUnderWay: (row: string): string => (status === 'PENDING' ? `AND NOT ${isUnderWay(`${row}.id`)}` : ''),
    mayBeUntried: !isCounted || status === 'PENDING',
  };
};
type Parts = ReturnType<typeof partsOf>;

const begunUnderWay = ({ conditions }: Parts): string =>
  `FROM rm_webhook_deliveries.deliveries d WHERE ${conditions('d', 'd.next_attempt_at IS NOT NULL', isUnderWay('d.id'))}`;
const untriedUnderWay = ({ conditions }: Parts): string =>
  `FROM operations.waiting_deliveries s WHERE ${conditions('s', isUnderWay('s.id'), IS_UNTRIED)}`;

const sumOf = (table: string, condition: string): string =>
  `(SELECT coalesce(sum(c.deliveries), 0) FROM ${table} c WHERE ${condition})`;
const begunTotal = (condition: string): string => sumOf('rm_webhook_deliveries.delivery_counts', condition);
/** Uses counters, because an endpoint that is down may have a million waiting deliveries. */
const untriedTotal = (condition: string): string => sumOf('operations.waiting_counts', condition);

/** `left_out` is the number of pending deliveries that don't match because their attempt is in progress. */
const totalOf = (parts: Parts): string => {
  const { status, conditions, counts, mayBeUntried } = parts;
  const running = `(SELECT count(*) ${begunUnderWay(parts)}) + (SELECT count(*) ${untriedUnderWay(parts)})`;
  const all = mayBeUntried ? `${begunTotal(counts)} + ${untriedTotal(conditions('c'))}` : begunTotal(counts);
  const leftOut = status === 'PENDING' ? running : '0';
  const total = status === 'PROCESSING' ? running : `${all} - n.left_out`;
  return `WITH n AS MATERIALIZED (SELECT ${leftOut} AS left_out)
    SELECT (${total})::bigint AS total, n.left_out FROM n WHERE $1::text[] IS NOT NULL AND $2::text IS NOT NULL AND $3::text IS NOT NULL`;
};

/** A table with counted rows, and how to find the rows of a counted combination. */
interface Counted {
  /** SELECT of the counter rows `c`, each with its `hash`. */
  readonly combinations: string;
  readonly columns: string;
  readonly table: string;
  readonly row: string;
  /** Condition that a row belongs to the combination `c`. */
  readonly isItself: string;
}

const counted = ({ counts, conditions }: Parts): { readonly begun: Counted; readonly untried: Counted } => ({
  begun: {
    combinations: `SELECT c.endpoint_id, c.event_type, c.status, ${combinationHashOf('c')} AS hash
      FROM rm_webhook_deliveries.delivery_counts c WHERE ${counts} AND c.deliveries > 0`,
    columns: COLUMNS,
    table: 'rm_webhook_deliveries.deliveries',
    row: 'd',
    isItself: 'd.endpoint_id = c.endpoint_id AND d.event_type = c.event_type AND d.status = c.status',
  },
  untried: {
    combinations: `SELECT c.endpoint_id, c.event_type, ${untriedHashOf('c')} AS hash
      FROM operations.waiting_counts c WHERE ${conditions('c', 'c.deliveries > 0')}`,
    columns: UNTRIED_COLUMNS,
    table: 'operations.waiting_deliveries',
    row: 's',
    isItself: `coalesce(s.endpoint_id, '') = c.endpoint_id AND s.event_type = c.event_type AND ${IS_UNTRIED}`,
  },
});

/**
 * Returns the SELECT of a filtered page. For each counted combination, the index yields the newest rows in order without reading them, and
 * thus the instant since which there are enough rows in total. Rows are compared and sorted by hash and instant: the planner can't
 * estimate a hash and would otherwise scan all instants. `needed` and `enough` are parameters: the number of rows for the page, and that
 * number plus the rows left out because an attempt is in progress.
 */
const filteredPage = (
  { combinations, columns, table, row, isItself }: Counted,
  { isNotUnderWay }: Parts,
  needed: string,
  enough: string,
): string => {
  const place = `${row}.combination_hash, ${row}.scheduled_at`;
  const ofCombinationSince = (instant: string): string =>
    `FROM ${table} ${row} WHERE (${place}) BETWEEN (c.hash, ${instant}) AND (c.hash, 'infinity')`;
  const newestFirst = `ORDER BY ${row}.combination_hash DESC, ${row}.scheduled_at DESC`;
  return `WITH c AS MATERIALIZED (${combinations}),
    since AS MATERIALIZED (
      SELECT min(scheduled_at) AS at FROM (
        SELECT n.scheduled_at FROM c CROSS JOIN LATERAL (
          SELECT ${row}.scheduled_at ${ofCombinationSince("timestamptz '-infinity'")} ${newestFirst} LIMIT ${enough}) n
        ORDER BY n.scheduled_at DESC LIMIT ${enough}) newest)
    SELECT f.* FROM c CROSS JOIN LATERAL (
      SELECT ${columns} ${ofCombinationSince('(SELECT at FROM since)')} AND ${row}.account_id = $2 AND ${row}.mode = $3
        AND ${isItself} ${isNotUnderWay(row)} ${newestFirst}, ${row}.id LIMIT ${needed}) f`;
};

/** Returns the SELECT of a page. `needed` is a parameter, the number of newest rows for the page; `enough` as above. */
const pageOf = (parts: Parts, needed: string, enough: () => string): string => {
  const order = `${NEWEST_FIRST} LIMIT ${needed}`;
  const { status, hasFilter, conditions, isNotUnderWay, mayBeUntried } = parts;
  if (status === 'PROCESSING')
    return `(SELECT ${COLUMNS} ${begunUnderWay(parts)} ${order})
      UNION ALL (SELECT ${UNTRIED_COLUMNS} ${untriedUnderWay(parts)} ${order})`;
  const allBegun = `SELECT ${COLUMNS} FROM rm_webhook_deliveries.deliveries d WHERE ${IS_OF_TENANT} ${order}`;
  const allUntried = `SELECT ${UNTRIED_COLUMNS} FROM operations.waiting_deliveries s
    WHERE ${conditions('s', IS_UNTRIED)} ${isNotUnderWay('s')} ${order}`;
  if (!hasFilter && status === undefined) return `(${allBegun}) UNION ALL (${allUntried})`;
  const { begun, untried } = counted(parts);
  const most = enough();
  const begunOnes = filteredPage(begun, parts, needed, most);
  if (!mayBeUntried) return begunOnes;
  return `(${begunOnes}) UNION ALL (${hasFilter ? filteredPage(untried, parts, needed, most) : allUntried})`;
};

export const deliveryViews = (db: Sql): DeliveryViews => ({
  // Returns a page, newest first, then by id. `total` counts all matches. `running` holds the tenant's ids in running jobs.
  list: async ({ accountId, mode }, filter, running) => {
    const values: unknown[] = [running, accountId, mode];
    const add = (value: unknown) => `$${values.push(value)}`;
    const parts = partsOf(filter, add);
    const { rows: counts } = await db.query<{ total: number; left_out: number }>(totalOf(parts), [...values]);
    const { total, left_out: leftOut } = counts[0] ?? { total: 0, left_out: 0 };
    const needed = add(filter.limit + filter.offset);
    const page = `${NEWEST_FIRST} LIMIT ${add(filter.limit)} OFFSET ${add(filter.offset)}`;
    const enough = () => add(filter.limit + filter.offset + leftOut);
    const { rows } = await db.query<ListedRow>(
      `SELECT ${LISTED} FROM (SELECT * FROM (${pageOf(parts, needed, enough)}) found ${page}) d
       WHERE $1::text[] IS NOT NULL ORDER BY d.scheduled_at DESC, d.id`,
      values,
    );
    return { deliveries: rows.map(listedOf), total };
  },
  find: async ({ accountId, mode }, id, running) => {
    const { rows } = await db.query<ListedRow>(
      `SELECT ${LISTED} FROM (
         SELECT ${COLUMNS} FROM rm_webhook_deliveries.deliveries d WHERE d.id = $4 AND d.account_id = $2 AND d.mode = $3
         UNION ALL
         SELECT ${UNTRIED_COLUMNS} FROM operations.waiting_deliveries s
         WHERE s.id = $4 AND s.account_id = $2 AND s.mode = $3 AND ${IS_UNTRIED}) d`,
      [running, accountId, mode, id],
    );
    return rows[0] ? listedOf(rows[0]) : null;
  },
  // Returns the number of the tenant's deliveries by status.
  stats: async ({ accountId, mode }, running) => {
    const of = (row: string): string => `${row}.account_id = $2 AND ${row}.mode = $3`;
    const { rows } = await db.query<{ status: DeliveryStatus | 'UNTRIED'; deliveries: number }>(
      `SELECT c.status, sum(c.deliveries)::bigint AS deliveries FROM rm_webhook_deliveries.delivery_counts c WHERE ${of('c')} GROUP BY c.status
       UNION ALL SELECT 'UNTRIED', ${untriedTotal(of('c'))}::bigint
       UNION ALL SELECT 'PROCESSING', (SELECT count(*) FROM operations.waiting_deliveries s
            WHERE ${of('s')} AND ${isUnderWay('s.id')} AND ${IS_UNTRIED})
         + (SELECT count(*) FROM rm_webhook_deliveries.deliveries d
            WHERE ${of('d')} AND d.next_attempt_at IS NOT NULL AND ${isUnderWay('d.id')})`,
      [running, accountId, mode],
    );
    const count = (status: DeliveryStatus | 'UNTRIED') => rows.find((row) => row.status === status)?.deliveries ?? 0;
    return {
      PENDING: count('PENDING') + count('UNTRIED') - count('PROCESSING'),
      PROCESSING: count('PROCESSING'),
      DELIVERED: count('DELIVERED'),
      FAILED: count('FAILED'),
      CANCELLED: count('CANCELLED'),
    };
  },
});
