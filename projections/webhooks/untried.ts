// Deliveries of which nothing has happened yet are not in the read model (application/ports/scheduledDeliveries.ts). What is known of them,
// and of the attempts that others wait for, is read from the views of migration 0015_delivery_state.
import { hashOf } from '../engine/aggregateTable.ts';
import type { OperationalCheck } from '../engine/projection.ts';

/**
 * The read model does not show that anything has happened to it. Both have one only where it was scheduled again after a crash, or begun
 * while the read model was made anew, until it is swept: a second, but for what a process begins that does not live to sweep it. Asked of
 * row after row: NOT EXISTS is a join, for which the planner reads all that wait to show the first hundred.
 */
export const IS_UNTRIED = '(SELECT true FROM rm_webhook_deliveries.deliveries r WHERE r.id = s.id) IS NULL';
export const hasNoTimer = (id: string): string =>
  `NOT EXISTS (SELECT FROM operations.delivery_turns u WHERE u.delivery_id = ${id})`;
/** `id`: an expression. */
export const isShown = (id: string): string =>
  `EXISTS (SELECT FROM rm_webhook_deliveries.deliveries d WHERE d.id = ${id})`;

/** By it the narrow index of those that wait finds those that a row of `operations.waiting_counts` counts. */
export const untriedHashOf = (row: string): string =>
  hashOf(`${row}.account_id || ${row}.mode || ${row}.endpoint_id || '/' || ${row}.event_type`);

/** $1 the ids. */
export const REMOVE_BEGUN = {
  name: 'remove_begun_deliveries',
  text: 'DELETE FROM operations.waiting_deliveries s WHERE s.id = ANY ($1::text[])',
};

/** Lists count those that wait by their counters. */
export const WAITING_COUNTS_CHECK: OperationalCheck = {
  table: 'operations.waiting_counts',
  text: `SELECT concat_ws(' ', account_id, mode, endpoint_id, event_type, coalesce(c.deliveries, 0)) AS live,
      concat_ws(' ', account_id, mode, endpoint_id, event_type, coalesce(w.deliveries, 0)) AS replayed
    FROM operations.waiting_counts c FULL JOIN (
      SELECT account_id, mode, coalesce(endpoint_id, '') AS endpoint_id, event_type, count(*) AS deliveries
      FROM operations.waiting_deliveries GROUP BY 1, 2, 3, 4) w USING (account_id, mode, endpoint_id, event_type)
    WHERE coalesce(c.deliveries, 0) <> coalesce(w.deliveries, 0) ORDER BY 1`,
};
