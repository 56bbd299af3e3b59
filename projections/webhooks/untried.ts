// Deliveries of which nothing has happened yet are not in the read model (application/ports/scheduledDeliveries.ts).
import { DELIVERY_QUEUE } from '../../application/ports/failingTargets.ts';

/** Nothing has happened to it, or the read model does not show it yet. Until its row is swept both may have it. */
export const IS_UNTRIED = 'NOT EXISTS (SELECT FROM rm_webhook_deliveries.deliveries r WHERE r.id = s.id)';
export const hasNoTimer = (id: string): string =>
  `NOT EXISTS (SELECT FROM operations.timers u WHERE u.kind = '${DELIVERY_QUEUE}' AND u.key = ${id})`;
