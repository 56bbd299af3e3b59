// Deliveries that ended long ago go out of the log and out of the read model together (ADR 0008).
import {
  type DeletesDeliveries,
  type EndedDelivery,
  type ExpiredDeliveries,
  FAN_OUT_QUEUE,
} from '../../application/ports/deliveryRetention.ts';
import type { Sql, SqlPool } from '../../application/ports/sql.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { dropCheckpoint } from '../engine/checkpoints.ts';
import { mayDelete } from '../engine/retentionLock.ts';
import { nextName } from '../engine/schemaVersions.ts';
import { webhookDeliveriesProjection } from './projection.ts';
import { hasNoTimer } from './untried.ts';

/**
 * $1 the day, $2 as many at most. A job that is not done may schedule a delivery again that it scheduled before: once the stream is gone,
 * nothing would tell that it was sent.
 */
const ENDED = `SELECT s.id, s.revision FROM rm_webhook_deliveries.deliveries s
  WHERE s.status <> 'PENDING' AND s.recorded_on < $1::date AND ${hasNoTimer('s.id')}
    AND NOT EXISTS (SELECT FROM operations.waiting_deliveries w WHERE w.id = s.id)
    AND NOT EXISTS (SELECT FROM operations.owed o WHERE o.queue = '${FAN_OUT_QUEUE}' AND o.payload::jsonb->>'stream' = s.of_stream)
    AND NOT EXISTS (SELECT FROM subscriptions.parked_streams p WHERE p.stream = 'webhookDelivery-' || s.id)
  ORDER BY s.recorded_on LIMIT $2`;

/** $1 the ids. */
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

/** The read model is made by the first projector there is, which may be a moment later than a worker. */
const EXISTS = `SELECT to_regclass('rm_webhook_deliveries.deliveries') IS NOT NULL AS is_there`;
const isThere = async (tx: Sql): Promise<boolean> =>
  (await tx.query<{ is_there: boolean }>(EXISTS)).rows[0]?.is_there === true;

const deleteIn = async (
  tx: Sql,
  store: DeletesDeliveries,
  recordedBefore: string,
  limit: number,
): Promise<number | null> => {
  if (!(await mayDelete(tx)) || !(await isThere(tx))) return null;
  const { rows } = await tx.query<EndedDelivery>({
    name: 'ended_deliveries',
    text: ENDED,
    values: [recordedBefore, limit],
  });
  if (rows.length === 0) return 0;
  // Counters are taken before anything else is, and all at once: the projector takes them in another order.
  await tx.query('LOCK TABLE rm_webhook_deliveries.delivery_counts IN SHARE ROW EXCLUSIVE MODE');
  const gone: ReadonlySet<DeliveryId> = await store.deleteDeliveries(rows, recordedBefore, tx);
  if (gone.size === 0) return 0;
  await tx.query({ name: 'remove_deliveries', text: REMOVE, values: [[...gone]] });
  // A rebuild that was killed would go on with rows of what is gone.
  await dropCheckpoint(tx, nextName(webhookDeliveriesProjection));
  return gone.size;
};

/** `db`: its commits need not wait for the disk, because what is undone by a crash is done again. */
export const expiredDeliveries = (db: SqlPool, store: DeletesDeliveries): ExpiredDeliveries => ({
  deleteSome: (recordedBefore, limit) => db.transaction((tx) => deleteIn(tx, store, recordedBefore, limit)),
  deleted: async () => {
    const { rows } = await db.query<{ deleted: number }>('SELECT deleted FROM operations.webhook_retention');
    return rows[0]?.deleted ?? 0;
  },
});
