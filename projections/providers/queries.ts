// All SQL queries of provider connections.
import type { ConnectionReads, OpenWork } from '../../application/ports/readModels/providers.ts';
import type { Sql } from '../../application/ports/sql.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import type { Connection } from '../../domain/providerConnection/aggregate.ts';

/** Starts from the rows that are not final, which are few and indexed, so that the many final ones cost nothing. */
const OPEN_WORK = `
  SELECT owner.connection_id AS id, count(*) FILTER (WHERE open.kind = 'payment')::int AS payments,
    count(*) FILTER (WHERE open.kind = 'payout')::int AS payouts
  FROM (
    SELECT 'payment' AS kind, id FROM rm_payments.payments WHERE awaits_at IS NOT NULL
    UNION SELECT 'payment', id FROM rm_payments.payments WHERE held_since IS NOT NULL
    UNION SELECT 'payment', payment_id FROM rm_disputes.cases WHERE status IN ('open', 'appealed')
    UNION SELECT 'payment', payment_id FROM rm_disputes.cases WHERE waits_since IS NOT NULL AND waits_because LIKE '%amount_mismatch%'
    UNION ALL SELECT 'payout', id FROM rm_payouts.requested WHERE open_since IS NOT NULL
    UNION ALL SELECT 'payout', id FROM rm_payouts.requested WHERE awaits_since IS NOT NULL
  ) open
  JOIN (
    SELECT 'payment' AS kind, id, connection_id FROM rm_providers.payment_owners
    UNION ALL SELECT 'payout', id, connection_id FROM rm_providers.payout_owners
  ) owner USING (kind, id)
  GROUP BY owner.connection_id`;

const RECENT = `handled_at IS NULL AND received_at > now() - interval '7 days'`;
/** One statement: the notification of a callback is stored before the callback counts as handled. */
const UNHANDLED = `
  SELECT ((SELECT count(*) FROM operations.provider_callbacks WHERE connection_id = $1 AND ${RECENT})
    + (SELECT count(*) FROM operations.provider_notifications JOIN rm_providers.payment_owners ON id = payment_id
       WHERE connection_id = $1 AND mode = 'live' AND ${RECENT}))::int AS unhandled`;

export const connectionReads = (db: Sql): ConnectionReads => ({
  all: async () => {
    const { rows } = await db.query<{ state: string }>({
      name: 'all_provider_connections',
      text: 'SELECT state FROM rm_providers.connections WHERE added_at IS NOT NULL ORDER BY added_at, id',
    });
    return rows.map(({ state }) => JSON.parse(state) as Connection);
  },
  openWork: async () => {
    const { rows } = await db.query<OpenWork & { readonly id: ConnectionId }>(OPEN_WORK);
    return new Map(rows.map(({ id, payments, payouts }) => [id, { payments, payouts }]));
  },
  unhandled: async (id) => (await db.query<{ unhandled: number }>(UNHANDLED, [id])).rows[0]?.unhandled ?? 0,
});
