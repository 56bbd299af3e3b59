// Reads of webhook endpoints, always of one account and mode.

import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { ActiveEndpoint, EndpointViews } from '../../application/ports/readModels/views.ts';
import type { EndpointReads } from '../../application/ports/readModels/webhookEndpoints.ts';
import { type CaughtUp, ReadModelsBehind } from '../../application/ports/readModels.ts';
import type { Sql } from '../../application/ports/sql.ts';

/** Oldest first. */
export const listEndpoints = async (db: Sql, { accountId, mode }: Tenant): Promise<readonly ActiveEndpoint[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT state FROM rm_webhook_endpoints.endpoints WHERE account_id = $1 AND mode = $2 AND status = 'active' ORDER BY created_at, id`,
    [accountId, mode],
  );
  return rows.map(({ state }) => JSON.parse(state) as ActiveEndpoint);
};

/** Twice the worst case of a read model: beyond it the count could miss one, and the request is refused instead. */
const COUNTED_MS = 2_000;

export const endpointReads = (db: Sql, caughtUp: CaughtUp): EndpointReads => ({
  count: async (tenant) => {
    if (!(await caughtUp('webhookEndpoints', COUNTED_MS)).isCaughtUp)
      throw new ReadModelsBehind('the endpoints could not be counted');
    return (await listEndpoints(db, tenant)).length;
  },
  subscriptions: async (tenant) => (await listEndpoints(db, tenant)).map(({ events }) => events),
});
export const endpointViews = (db: Sql): EndpointViews => ({ list: (tenant) => listEndpoints(db, tenant) });
