// Deliveries without any event are not in the read model (application/ports/scheduledDeliveries.ts). They, and the timers of other
// deliveries, are read from the views of migration 0015_delivery_state.
import { hashOf } from '../engine/aggregateTable.ts';
import type { OperationalCheck } from '../engine/projection.ts';

/**
 * Condition that the read model shows no event of the delivery. A delivery is in both places only if it was scheduled again after a crash,
 * or started during a rebuild, until it is swept. That takes a second, or longer if the process that started it has died. Uses a subquery
 * per row, because NOT EXISTS is a join, for which the planner reads all waiting deliveries to show the first hundred.
 */
export const IS_UNTRIED = '(SELECT true FROM rm_webhook_deliveries.deliveries r WHERE r.id = s.id) IS NULL';
export const hasNoTimer = (id: string): string =>
  `NOT EXISTS (SELECT FROM operations.delivery_turns u WHERE u.delivery_id = ${id})`;
/** Returns a condition that the read model shows the delivery. `id` is an SQL expression. */
export const isShown = (id: string): string =>
  `EXISTS (SELECT FROM rm_webhook_deliveries.deliveries d WHERE d.id = ${id})`;

/** Returns SQL for the hash by which the narrow index finds the waiting deliveries of an `operations.waiting_counts` row. */
export const untriedHashOf = (row: string): string =>
  hashOf(`${row}.account_id || ${row}.mode || ${row}.endpoint_id || '/' || ${row}.event_type`);

/** $1 ids. */
export const REMOVE_BEGUN = {
  name: 'remove_begun_deliveries',
  text: 'DELETE FROM operations.waiting_deliveries s WHERE s.id = ANY ($1::text[])',
};

/** Checks the counters from which lists get totals of waiting deliveries. */
export const WAITING_COUNTS_CHECK: OperationalCheck = {
  table: 'operations.waiting_counts',
  text: `SELECT concat_ws(' ', account_id, mode, endpoint_id, event_type, coalesce(c.deliveries, 0)) AS live,
      concat_ws(' ', account_id, mode, endpoint_id, event_type, coalesce(w.deliveries, 0)) AS replayed
    FROM operations.waiting_counts c FULL JOIN (
      SELECT account_id, mode, coalesce(endpoint_id, '') AS endpoint_id, event_type, count(*) AS deliveries
      FROM operations.waiting_deliveries GROUP BY 1, 2, 3, 4) w USING (account_id, mode, endpoint_id, event_type)
    WHERE coalesce(c.deliveries, 0) <> coalesce(w.deliveries, 0) ORDER BY 1`,
};
