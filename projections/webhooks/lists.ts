// What merchants are shown of their deliveries: lists with totals, one, and how many there are. The read model tells of those to which
// something has happened, and operations.scheduled_deliveries of the rest.
import { DELIVERY_QUEUE } from '../../application/ports/failingTargets.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { DeliveryFilter, DeliveryViews, ListedDelivery } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { DeliveryStatus } from '../../domain/presentation/delivery.ts';
import { MESSAGE_FORM } from '../../domain/presentation/messages.ts';
import { asTimestamp, type ColumnValues } from '../engine/aggregateTable.ts';
import { combinationHashOf, deliveryOf, isOfTenant } from './projection.ts';
import { hasNoTimer, IS_UNTRIED } from './untried.ts';

/** Whether an attempt of a pending one has begun, and what came of it is not known: it is in a job that runs now ($1), without a timer. */
const isUnderWay = (id: string): string => `(${id} = ANY($1::text[]) AND ${hasNoTimer(id)})`;

const COLUMNS = `d.id, d.payment_id, d.payment_revision, d.resend, d.form, d.event_type, d.endpoint_id, d.status, d.attempts,
  d.round, d.is_probe, d.last_status_code, d.last_failure, d.target, d.scheduled_at, d.updated_at, d.next_attempt_at`;
/** The same of one that was not tried: its body has the form of today. */
const UNTRIED_COLUMNS = `s.id, s.payment_id, s.payment_revision, s.resend, ${MESSAGE_FORM} AS form, s.event_type,
  coalesce(s.endpoint_id, '') AS endpoint_id, 'PENDING' AS status, 0 AS attempts,
  NULL::text AS round, CASE WHEN s.resend > 0 THEN 1 END AS is_probe, NULL::integer AS last_status_code, NULL::text AS last_failure,
  s.target, s.scheduled_at, s.scheduled_at AS updated_at, s.scheduled_at AS next_attempt_at`;

/** As a list shows it. What is held back goes when the next probe of its target succeeds, whichever that is. */
const LISTED = `d.id, d.payment_id, d.payment_revision, d.resend, d.form, d.event_type, d.endpoint_id, d.status, d.attempts,
  d.round, d.is_probe, d.last_status_code, d.last_failure, d.target, ${asTimestamp('d.scheduled_at')} AS scheduled_at, ${asTimestamp('d.updated_at')} AS updated_at,
  ${asTimestamp('d.next_attempt_at')} AS next_attempt_at, (d.status = 'PENDING' AND ${isUnderWay('d.id')}) AS is_under_way,
  (SELECT ${asTimestamp(`CASE WHEN t.held THEN (SELECT min(n.due_at) FROM operations.timers n WHERE n.group_id = t.group_id) ELSE t.due_at END`)}
   FROM operations.timers t WHERE t.kind = '${DELIVERY_QUEUE}' AND t.key = d.id) AS due_at,
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

/** $2 the account, $3 the mode. */
const IS_OF_TENANT = isOfTenant('d', '$2::text', '$3::text');

/** The parts of the statements of one list: $1 what runs, $2 the account, $3 the mode, and what `add` adds. */
const partsOf = ({ status, eventType, endpointId }: DeliveryFilter, add: (value: unknown) => string) => {
  const equals: string[] = [];
  if (eventType !== undefined) equals.push(`event_type = ${add(eventType)}`);
  if (endpointId !== undefined) equals.push(`endpoint_id = ${add(endpointId)}`);
  const conditions = (table: string, ...more: readonly string[]): string =>
    [`${table}.account_id = $2 AND ${table}.mode = $3`, ...equals.map((one) => `${table}.${one}`), ...more].join(
      ' AND ',
    );
  const underWay = (table: string): readonly string[] => {
    if (status === 'PROCESSING') return [isUnderWay(`${table}.id`)];
    return status === 'PENDING' ? [`NOT ${isUnderWay(`${table}.id`)}`] : [];
  };
  const isCounted = status !== undefined && status !== 'PROCESSING';
  const counts = conditions('c', ...(isCounted ? [`c.status = ${add(status)}`] : []));
  return { conditions, underWay, counts, mayBeUntried: !isCounted || status === 'PENDING' };
};
type Parts = ReturnType<typeof partsOf>;

const untried = ({ conditions, underWay }: Parts): string =>
  `FROM operations.scheduled_deliveries s WHERE ${conditions('s', IS_UNTRIED, ...underWay('s'))}`;

const begunUnderWay = ({ conditions }: Parts): string =>
  `FROM rm_webhook_deliveries.deliveries d WHERE ${conditions('d', 'd.next_attempt_at IS NOT NULL', isUnderWay('d.id'))}`;

const totalOf = (status: DeliveryStatus | undefined, parts: Parts): string => {
  const counted = `(SELECT coalesce(sum(c.deliveries), 0) FROM rm_webhook_deliveries.delivery_counts c WHERE ${parts.counts})`;
  const running = `(SELECT count(*) ${begunUnderWay(parts)})`;
  const begun = status === 'PROCESSING' ? running : status === 'PENDING' ? `${counted} - ${running}` : counted;
  const waiting = parts.mayBeUntried ? `(SELECT count(*) ${untried(parts)})` : '0';
  return `SELECT (${begun} + ${waiting})::bigint AS total WHERE $1::text[] IS NOT NULL AND $2::text IS NOT NULL AND $3::text IS NOT NULL`;
};

/**
 * Those that match a filter, found combination by combination of what is counted: the index gives the newest of each, in order and without
 * their rows, and so the instant since which there are enough of all together. `enough`: a parameter, as many as the page needs and more
 * than are left out because they are under way.
 */
const filteredPage = ({ underWay, counts }: Parts, order: string, enough: string): string => {
  const ofCombination = 'FROM rm_webhook_deliveries.deliveries d WHERE d.combination_hash = c.hash';
  const isItself = `d.account_id = $2 AND d.mode = $3 AND d.endpoint_id = c.endpoint_id AND d.event_type = c.event_type
    AND d.status = c.status`;
  const more = underWay('d').map((one) => `AND ${one}`);
  return `WITH c AS MATERIALIZED (
      SELECT c.endpoint_id, c.event_type, c.status, ${combinationHashOf('c')} AS hash
      FROM rm_webhook_deliveries.delivery_counts c WHERE ${counts} AND c.deliveries > 0),
    since AS MATERIALIZED (
      SELECT min(scheduled_at) AS at FROM (
        SELECT n.scheduled_at FROM c CROSS JOIN LATERAL (
          SELECT d.scheduled_at ${ofCombination} ORDER BY d.scheduled_at DESC LIMIT ${enough}) n
        ORDER BY n.scheduled_at DESC LIMIT ${enough}) newest)
    SELECT f.* FROM c CROSS JOIN LATERAL (
      SELECT ${COLUMNS} ${ofCombination} AND ${isItself} AND d.scheduled_at >= (SELECT at FROM since) ${more.join(' ')} ${order}) f`;
};

/** `order`: of the newest, as many as the page needs. */
const pageOf = (
  { status, eventType, endpointId }: DeliveryFilter,
  parts: Parts,
  order: string,
  enough: () => string,
): string => {
  const begun =
    status === 'PROCESSING'
      ? `SELECT ${COLUMNS} ${begunUnderWay(parts)}`
      : status !== undefined || eventType !== undefined || endpointId !== undefined
        ? filteredPage(parts, order, enough())
        : `SELECT ${COLUMNS} FROM rm_webhook_deliveries.deliveries d WHERE ${IS_OF_TENANT} ${order}`;
  if (!parts.mayBeUntried) return begun;
  return `(${begun}) UNION ALL (SELECT ${UNTRIED_COLUMNS} ${untried(parts)} ${order})`;
};

/** Newest first, then by id. `total` counts all that match. `running`: the ids in the jobs that run now. */
export const listDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  filter: DeliveryFilter,
  running: readonly string[],
): Promise<{ deliveries: readonly ListedDelivery[]; total: number }> => {
  const values: unknown[] = [running, accountId, mode];
  const add = (value: unknown) => `$${values.push(value)}`;
  const parts = partsOf(filter, add);
  const counted = await db.query<{ total: number }>(totalOf(filter.status, parts), [...values]);
  const order = 'ORDER BY scheduled_at DESC, id';
  const needed = `${order} LIMIT ${add(filter.limit + filter.offset)}`;
  const page = `${order} LIMIT ${add(filter.limit)} OFFSET ${add(filter.offset)}`;
  const enough = () => add(filter.limit + filter.offset + running.length);
  const { rows } = await db.query<ListedRow>(
    `SELECT ${LISTED} FROM (SELECT * FROM (${pageOf(filter, parts, needed, enough)}) found ${page}) d
     WHERE $1::text[] IS NOT NULL ORDER BY d.scheduled_at DESC, d.id`,
    values,
  );
  return { deliveries: rows.map(listedOf), total: counted.rows[0]?.total ?? 0 };
};

export const findDelivery = async (
  db: Sql,
  { accountId, mode }: Tenant,
  id: DeliveryId,
  running: readonly string[],
): Promise<ListedDelivery | null> => {
  const { rows } = await db.query<ListedRow>(
    `SELECT ${LISTED} FROM (
       SELECT ${COLUMNS} FROM rm_webhook_deliveries.deliveries d WHERE d.id = $4 AND d.account_id = $2 AND d.mode = $3
       UNION ALL
       SELECT ${UNTRIED_COLUMNS} FROM operations.scheduled_deliveries s
       WHERE s.id = $4 AND s.account_id = $2 AND s.mode = $3 AND ${IS_UNTRIED}) d`,
    [running, accountId, mode, id],
  );
  return rows[0] ? listedOf(rows[0]) : null;
};

/** How many of the tenant's deliveries have which status. */
export const countDeliveries = async (
  db: Sql,
  { accountId, mode }: Tenant,
  running: readonly string[],
): Promise<Readonly<Record<DeliveryStatus, number>>> => {
  const of = (row: string): string => `${row}.account_id = $2 AND ${row}.mode = $3`;
  const untriedOnes = `FROM operations.scheduled_deliveries s WHERE ${of('s')} AND ${IS_UNTRIED}`;
  const { rows } = await db.query<{ status: DeliveryStatus | 'UNTRIED'; deliveries: number }>(
    `SELECT c.status, sum(c.deliveries)::bigint AS deliveries FROM rm_webhook_deliveries.delivery_counts c WHERE ${of('c')} GROUP BY c.status
     UNION ALL SELECT 'UNTRIED', count(*) ${untriedOnes}
     UNION ALL SELECT 'PROCESSING', (SELECT count(*) ${untriedOnes} AND ${isUnderWay('s.id')})
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
};

export const deliveryViews = (db: Sql): DeliveryViews => ({
  list: (tenant, filter, running) => listDeliveries(db, tenant, filter, running),
  find: (tenant, id, running) => findDelivery(db, tenant, id, running),
  stats: (tenant, running) => countDeliveries(db, tenant, running),
});
