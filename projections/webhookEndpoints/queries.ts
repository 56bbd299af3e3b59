// Reads of webhook endpoints, always of one account and mode.
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { ActiveEndpoint, EndpointViews } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';

/** Oldest first. */
export const listEndpoints = async (db: Sql, { accountId, mode }: Tenant): Promise<readonly ActiveEndpoint[]> => {
  const { rows } = await db.query<{ state: string }>(
    `SELECT state FROM rm_webhook_endpoints.endpoints WHERE account_id = $1 AND mode = $2 AND status = 'active' ORDER BY created_at, id`,
    [accountId, mode],
  );
  return rows.map(({ state }) => JSON.parse(state) as ActiveEndpoint);
};

export const endpointViews = (db: Sql): EndpointViews => ({ list: (tenant) => listEndpoints(db, tenant) });
