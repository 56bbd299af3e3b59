// Deletes deliveries that ended long ago from the log and the read model together (ADR 0008).
import type {
  DeletesDeliveries,
  Deletion,
  EndedDelivery,
  ExpiredDeliveries,
} from '../../application/ports/deliveryRetention.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { dropCheckpoint } from '../engine/checkpoints.ts';
import { mayDelete } from '../engine/retentionLock.ts';
import { nextName } from '../engine/schemaVersions.ts';
import { webhookDeliveriesProjection } from './projection.ts';
import { hasNoTimer } from './untried.ts';

/**
 * $1 day, $2 limit, $3 ids to leave out. An unfinished job may schedule a delivery a second time. If its stream were deleted, nothing
 * would show that it had been sent.
 */
const ENDED = `SELECT s.id, s.revision FROM rm_webhook_deliveries.deliveries s
  WHERE s.status <> 'PENDING' AND s.recorded_on < $1::date AND ${hasNoTimer('s.id')}
    AND NOT EXISTS (SELECT FROM operations.waiting_deliveries w WHERE w.id = s.id)
    AND NOT EXISTS (SELECT FROM operations.open_fan_outs f WHERE f.stream = s.of_stream)
    AND NOT EXISTS (SELECT FROM subscriptions.parked_streams p WHERE p.stream = 'webhookDelivery-' || s.id)
    AND s.id NOT IN (SELECT unnest($3::text[]))
  ORDER BY s.recorded_on LIMIT $2`;

/** $1 ids. */
const REMOVE = `WITH gone AS (
    DELETE FROM rm_webhook_deliveries.deliveries WHERE id = ANY ($1::text[])
    RETURNING account_id, mode, endpoint_id, event_type, status),
  counted AS (
    SELECT account_id, mode, endpoint_id, event_type, status, count(*) AS deliveries FROM gone
    GROUP BY account_id, mode, endpoint_id, event_type, status),
  fewer AS (
    UPDATE rm_webhook_deliveries.delivery_counts c SET deliveries = c.deliveries - g.deliveries FROM counted g
    WHERE (c.account_id, c.mode, c.endpoint_id, c.event_type, c.status) = (g.account_id, g.mode, g.endpoint_id, g.event_type, g.status))
  UPDATE operations.webhook_retention SET deleted = deleted + (SELECT count(*) FROM gone)`;

/** The first projector creates the read model, possibly a moment after a worker starts. */
const EXISTS = `SELECT to_regclass('rm_webhook_deliveries.deliveries') IS NOT NULL AS is_there`;
const isThere = async (tx: Sql): Promise<boolean> =>
  (await tx.query<{ is_there: boolean }>(EXISTS)).rows[0]?.is_there === true;

const deleteIn = async (
  tx: Sql,
  store: DeletesDeliveries,
  recordedBefore: string,
  limit: number,
  except: readonly DeliveryId[],
): Promise<Deletion | null> => {
  if (!(await mayDelete(tx)) || !(await isThere(tx))) return null;
  const { rows } = await tx.query<EndedDelivery>({
    name: 'ended_deliveries',
    text: ENDED,
    values: [recordedBefore, limit, except],
  });
  if (rows.length === 0) return { deleted: 0, kept: [] };
  // Locks the counters first and all at once, because the projector locks them in another order.
  await tx.query('LOCK TABLE rm_webhook_deliveries.delivery_counts IN SHARE ROW EXCLUSIVE MODE');
  const removed: ReadonlySet<DeliveryId> = await store.deleteDeliveries(rows, recordedBefore, tx);
  const kept = rows.map(({ id }) => id).filter((id) => !removed.has(id));
  if (removed.size === 0) return { deleted: 0, kept };
  await tx.query({ name: 'remove_deliveries', text: REMOVE, values: [[...removed]] });
  // Otherwise a killed rebuild would continue with rows of deleted streams.
  await dropCheckpoint(tx, nextName(webhookDeliveriesProjection));
  return { deleted: removed.size, kept };
};

/** The commits of `db` need not wait for the disk, because work lost in a crash is repeated. */
export const expiredDeliveries = (db: SqlPool, store: DeletesDeliveries): ExpiredDeliveries => ({
  deleteSome: (recordedBefore, limit, except) =>
    db.transaction((tx) => deleteIn(tx, store, recordedBefore, limit, except)),
  deleted: async () => {
    const { rows } = await db.query<{ deleted: number }>('SELECT deleted FROM operations.webhook_retention');
    return rows[0]?.deleted ?? 0;
  },
});
