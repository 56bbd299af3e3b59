// Finds deliveries that hold the endpoint's last response, which may quote personal data (rule L2).
import type { PersonalDeliveries } from '../../application/ports/personalData.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { DeliveryId } from '../../domain/kernel/ids.ts';

export const personalDeliveries = (db: Sql): PersonalDeliveries => ({
  withResponse: async (streams) => {
    const { rows } = await db.query<{ id: DeliveryId; last_failure: string }>(
      `SELECT id, last_failure FROM rm_webhook_deliveries.deliveries WHERE of_stream = ANY($1::text[]) AND last_failure IS NOT NULL`,
      [streams],
    );
    return rows.filter(({ last_failure }) => JSON.parse(last_failure)[1] !== null).map(({ id }) => id);
  },
});
