// Dead-lettered deliveries for redrives (rule W8): their number, and all of them in pages, oldest first. They have their own index.
import type { DeadLetter, DeadLetterReads } from '../../application/ports/readModels/webhookDeliveries.ts';
import { ANY_DEAD_LETTER, type RedriveFilter } from '../../application/ports/redrives.ts';
import { asTimestamp, type Sql } from '../../application/ports/sql.ts';
import type {
  AccountId,
  DeliveryId,
  EndpointId,
  Mode,
  PaymentId,
  StreamName,
  Tenant,
} from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

/** $1 account, $2 mode, $3 latest time of dead-lettering, $4 to $7 the filter. */
const MEANT = `FROM rm_webhook_deliveries.deliveries d
  WHERE d.account_id = $1 AND d.mode = $2 AND d.status = 'FAILED' AND d.updated_at <= $3
    AND ($4::text IS NULL OR d.endpoint_id = $4) AND ($5::text IS NULL OR d.event_type = $5)
    AND d.scheduled_at >= coalesce($6::timestamptz, '-infinity') AND d.scheduled_at <= coalesce($7::timestamptz, 'infinity')`;

/** Returns a condition for deliveries that an open redrive, which meets `condition`, has not reached yet. */
const isAwaited = (condition: string): string => `EXISTS (SELECT FROM operations.open_redrives r
  WHERE r.account_id = d.account_id AND r.mode = d.mode AND r.asked_at >= d.updated_at AND ${condition}
    AND (r.endpoint_id IS NULL OR r.endpoint_id = d.endpoint_id) AND (r.event_type IS NULL OR r.event_type = d.event_type)
    AND d.scheduled_at BETWEEN r.created_from AND r.created_to AND (d.scheduled_at, d.id) > (r.after_at, r.after_id))`;

const valuesOf = (
  { accountId, mode }: Tenant,
  { endpointId, eventType, createdFrom, createdTo }: RedriveFilter,
  until: Timestamp,
): readonly unknown[] => [accountId, mode, until, endpointId, eventType, createdFrom, createdTo];

const COLUMNS = `d.id, d.of_stream, d.of_revision, d.payment_id, d.event_type, d.endpoint_id, d.resend, d.form,
  ${asTimestamp('d.scheduled_at')} AS scheduled_at`;

interface Row {
  readonly id: DeliveryId;
  readonly of_stream: StreamName;
  readonly of_revision: number;
  readonly payment_id: PaymentId | null;
  readonly event_type: string;
  readonly endpoint_id: EndpointId | '';
  readonly resend: number;
  readonly form: number;
  readonly scheduled_at: Timestamp;
}

const letterOf = ({ id, scheduled_at: scheduledAt, ...row }: Row): DeadLetter => ({
  id,
  delivery: {
    stream: row.of_stream,
    revision: row.of_revision,
    paymentId: row.payment_id,
    eventType: row.event_type,
    endpointId: row.endpoint_id || null,
    resend: row.resend,
    scheduledAt,
    form: row.form,
  },
});

const sumOf = (counts: readonly { readonly deliveries: number }[]): number =>
  counts.reduce((sum, { deliveries }) => sum + deliveries, 0);

export const deadLetterReads = (db: Sql): DeadLetterReads => ({
  async total(tenant, filter, now) {
    const { endpointId, eventType, createdFrom, createdTo } = filter;
    if (createdFrom !== null || createdTo !== null) return sumOf(await this.count(tenant, filter, now));
    const { rows } = await db.query<{ deliveries: number }>(
      `SELECT c.deliveries FROM rm_webhook_deliveries.delivery_counts c
       WHERE c.account_id = $1 AND c.mode = $2 AND c.status = 'FAILED'
         AND ($3::text IS NULL OR c.endpoint_id = $3) AND ($4::text IS NULL OR c.event_type = $4)`,
      [tenant.accountId, tenant.mode, endpointId, eventType],
    );
    return sumOf(rows);
  },

  count: async (tenant, filter, until) => {
    const { rows } = await db.query<{ endpoint_id: EndpointId | ''; deliveries: number; free: number }>(
      `SELECT d.endpoint_id, count(*) AS deliveries, count(*) FILTER (WHERE NOT ${isAwaited('true')}) AS free ${MEANT} GROUP BY d.endpoint_id`,
      valuesOf(tenant, filter, until),
    );
    return rows.map(({ endpoint_id: endpointId, ...counts }) => ({ endpointId: endpointId || null, ...counts }));
  },

  page: async ({ id: redriveId, tenant, filter, askedAt, after }, limit) => {
    const { rows } = await db.query<Row>(
      `SELECT ${COLUMNS} ${MEANT} AND (d.scheduled_at, d.id) > ($8::timestamptz, $9) AND NOT ${isAwaited('(r.asked_at, r.id) < ($3, $11)')}
       ORDER BY d.scheduled_at, d.id LIMIT $10`,
      [...valuesOf(tenant, filter, askedAt), after?.scheduledAt ?? '-infinity', after?.id ?? '', limit, redriveId],
    );
    return rows.map(letterOf);
  },

  oldest: async (tenant, until, limit) => {
    const { rows } = await db.query<Row>(`SELECT ${COLUMNS} ${MEANT} ORDER BY d.scheduled_at, d.id LIMIT $8`, [
      ...valuesOf(tenant, ANY_DEAD_LETTER, until),
      limit,
    ]);
    return rows.map(letterOf);
  },

  tenants: async () => {
    const { rows } = await db.query<{ account_id: AccountId; mode: Mode; deliveries: number }>(
      `SELECT account_id, mode, sum(deliveries)::bigint AS deliveries FROM rm_webhook_deliveries.delivery_counts
       WHERE status = 'FAILED' AND deliveries > 0 GROUP BY account_id, mode ORDER BY account_id, mode`,
    );
    return rows.map(({ account_id: accountId, mode, deliveries }) => ({ tenant: { accountId, mode }, deliveries }));
  },
});
