// Read models of webhook endpoints and deliveries.

import { TextArray } from '../../application/ports/sql.ts';
import type { EndpointId, PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { deliveryStatus, type ExistingDelivery, type StoredStatus } from '../../domain/presentation/delivery.ts';
import {
  type Delivery,
  type Round,
  WEBHOOK_DELIVERY,
  type WebhookDeliveryEvent,
  type WebhookDeliveryState,
} from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import {
  type AggregateChange,
  aggregateTable,
  type ColumnValues,
  type DerivedTable,
  hashOf,
} from '../engine/aggregateTable.ts';
import { Additions, type CounterTable, counterTable } from '../engine/counterTable.ts';
import { liveSchema } from '../engine/projection.ts';
import { REMOVE_BEGUN, WAITING_COUNTS_CHECK } from './untried.ts';

export const webhookEndpointsProjection = aggregateTable({
  name: 'webhookEndpoints',
  version: 2,
  aggregate: WEBHOOK_ENDPOINT,
  isByAccount: true,
  table: 'endpoints',
  columns: [
    { name: 'status', type: 'text', of: ({ status }) => status },
    { name: 'created_at', type: 'timestamptz', of: (state) => (state.status === 'absent' ? null : state.createdAt) },
  ],
  indexes: [{ columns: 'account_id, mode, created_at' }],
});

/** Number of deliveries by endpoint, event name and status. The endpoint is '' for payments' own URLs. */
const DELIVERY_COUNTS: CounterTable<'deliveries'> = {
  name: 'delivery_counts',
  key: ['account_id', 'mode', 'endpoint_id', 'event_type', 'status'],
  counts: ['deliveries'],
  zeroIsNone: true,
};

const countsOfDeliveries = (
  changes: readonly AggregateChange<WebhookDeliveryState, WebhookDeliveryEvent>[],
): Additions<'deliveries'> => {
  const additions = new Additions<'deliveries'>();
  for (const { before, after } of changes) {
    const { account, mode, state } = after;
    if (state.status === 'absent' || before?.state.status === state.status) continue;
    const { endpointId, eventType } = state.delivery;
    const add = (of: ExistingDelivery, deliveries: 1 | -1) =>
      additions.add([account, mode, endpointId ?? '', eventType, deliveryStatus(of)], { deliveries });
    if (before && before.state.status !== 'absent') add(before.state, -1);
    add(state, 1);
  }
  return additions;
};

const NAME = 'webhookDeliveries';

/** Removes a delivery from the waiting ones in the batch that inserts it, so that lists show it once. Only the live copy does this. */
const fromThoseThatWait: DerivedTable<WebhookDeliveryState, WebhookDeliveryEvent> = {
  tables: [],
  checks: [WAITING_COUNTS_CHECK],
  ddl: () => '',
  writer: (schema) => ({
    reset: () => undefined,
    apply: async (changes, tx) => {
      if (schema !== liveSchema(NAME)) return;
      const begun = changes.flatMap(({ subject, before }) => (before === undefined ? [subject] : []));
      if (begun.length > 0) await tx.query({ ...REMOVE_BEGUN, values: [new TextArray(begun)] });
    },
  }),
};

type Existing<Value> = (state: ExistingDelivery) => Value;
const ofExisting =
  (of: Existing<string | number | null>) =>
  (state: WebhookDeliveryState): string | number | null =>
    state.status === 'absent' ? null : of(state);
const ofDelivery = (of: (delivery: Delivery) => string | number | null) => ofExisting(({ delivery }) => of(delivery));

/** Error and response of the last attempt as JSON, because both may contain characters that PostgreSQL text can't hold. */
const lastFailure: Existing<string | null> = ({ lastError, lastResponseBody }) =>
  lastError === null ? null : JSON.stringify([lastError, lastResponseBody]);

/** The round as JSON; null for the first round, which is nearly always the case. */
const storedRound: Existing<string | null> = ({ round: { earlierAttempts, begunAt } }) =>
  earlierAttempts === 0 ? null : JSON.stringify([earlierAttempts, begunAt]);
const roundOf = (stored: string | null): Round | null => {
  if (stored === null) return null;
  const [earlierAttempts, begunAt] = JSON.parse(stored) as [number, Timestamp];
  return { earlierAttempts, begunAt };
};

/** Returns the delivery of a row. */
export const deliveryOf = (row: ColumnValues): ExistingDelivery => {
  const [lastError, lastResponseBody] = JSON.parse((row.last_failure as string | null) ?? '[null,null]') as [
    string | null,
    string | null,
  ];
  const scheduledAt = row.scheduled_at as Timestamp;
  const progress = {
    round: roundOf(row.round as string | null) ?? { earlierAttempts: 0, begunAt: scheduledAt },
    delivery: {
      stream: row.of_stream as StreamName,
      revision: row.of_revision as number,
      paymentId: row.payment_id as PaymentId | null,
      eventType: row.event_type as string,
      endpointId: row.endpoint_id === '' ? null : (row.endpoint_id as EndpointId),
      resend: row.resend as number,
      scheduledAt,
      form: row.form as number,
    },
    updatedAt: row.updated_at as Timestamp,
    attempts: row.attempts as number,
    lastStatusCode: row.last_status_code as number | null,
    lastError,
    lastResponseBody,
  };
  switch (row.status as StoredStatus) {
    case 'PENDING':
      return {
        ...progress,
        status: 'pending',
        target: row.target as string,
        nextAttemptAt: row.next_attempt_at as Timestamp,
        isProbe: row.is_probe === 1,
      };
    case 'DELIVERED':
      return { ...progress, status: 'delivered' };
    case 'FAILED':
      return { ...progress, status: 'deadLettered' };
    case 'CANCELLED':
      return { ...progress, status: 'cancelled' };
  }
};

/** Returns SQL for the combination by which deliveries are counted and filtered: account, mode, endpoint, event and status. */
const combinationOf = (row: string): string =>
  `${row}account_id || ${row}mode || ${row}endpoint_id || '/' || ${row}event_type || '/' || ${row}status`;
/** Returns SQL for the hash by which the narrow index finds the deliveries of a `delivery_counts` row, in order of scheduling. */
export const combinationHashOf = (row: string): string => hashOf(combinationOf(`${row}.`));

const tenantHashOf = (accountId: string, mode: string): string => hashOf(`${accountId} || ${mode}`);
/** Returns a condition that finds a tenant's deliveries by the narrow index, in order of scheduling. */
export const isOfTenant = (row: string, accountId: string, mode: string): string =>
  `${tenantHashOf(`${row}.account_id`, `${row}.mode`)} = ${tenantHashOf(accountId, mode)}
   AND ${row}.account_id = ${accountId} AND ${row}.mode = ${mode}`;

// Bodies are not stored (application/webhooks/streamMessages.ts). Most rows are written once, because an immediate success is one event.
// Lists are newest first and read the first two indexes backwards; new rows append to the end of a part, where pages fill up in order.
// Both indexes use hashes, 28 bytes per entry. With the full columns it was 145 bytes, more than half of the cost of a row. The
// probability that two of 1,000,000 combinations share a hash is 3 in 100,000,000. A redrive reads the last index, oldest first.
// Columns of fixed length come first, because they would be padded between texts.
export const webhookDeliveriesProjection = aggregateTable({
  name: NAME,
  version: 8,
  aggregate: WEBHOOK_DELIVERY,
  isByAccount: true,
  table: 'deliveries',
  hashes: [{ name: 'combination_hash', of: combinationOf('') }],
  columns: [
    { name: 'of_revision', type: 'integer', of: ofDelivery(({ revision }) => revision) },
    { name: 'resend', type: 'integer', of: ofDelivery(({ resend }) => resend) },
    { name: 'form', type: 'integer', of: ofDelivery(({ form }) => form) },
    { name: 'attempts', type: 'integer', of: ofExisting(({ attempts }) => attempts) },
    { name: 'last_status_code', type: 'integer', of: ofExisting(({ lastStatusCode }) => lastStatusCode) },
    { name: 'is_probe', type: 'integer', of: (state) => (state.status === 'pending' && state.isProbe ? 1 : null) },
    { name: 'scheduled_at', type: 'timestamptz', of: ofDelivery(({ scheduledAt }) => scheduledAt) },
    { name: 'updated_at', type: 'timestamptz', of: ofExisting(({ updatedAt }) => updatedAt) },
    {
      name: 'next_attempt_at',
      type: 'timestamptz',
      of: (state) => (state.status === 'pending' ? state.nextAttemptAt : null),
    },
    { name: 'status', type: 'text', of: ofExisting(deliveryStatus) },
    { name: 'of_stream', type: 'text', of: ofDelivery(({ stream }) => stream) },
    { name: 'payment_id', type: 'text', of: ofDelivery(({ paymentId }) => paymentId) },
    { name: 'event_type', type: 'text', of: ofDelivery(({ eventType }) => eventType) },
    { name: 'endpoint_id', type: 'text', of: ofDelivery(({ endpointId }) => endpointId ?? '') },
    { name: 'round', type: 'text', of: ofExisting(storedRound) },
    { name: 'last_failure', type: 'text', of: ofExisting(lastFailure) },
    { name: 'target', type: 'text', of: (state) => (state.status === 'pending' ? state.target : null) },
  ],
  fromColumns: deliveryOf,
  keepsRecordedOn: true,
  indexes: [
    { columns: `${tenantHashOf('account_id', 'mode')}, scheduled_at` },
    { columns: 'combination_hash, scheduled_at' },
    { columns: 'account_id, mode, next_attempt_at', where: 'next_attempt_at IS NOT NULL' },
    { columns: 'account_id, mode, scheduled_at, id', where: "status = 'FAILED'" },
    // For erasures, which remove responses of endpoints. Few deliveries fail, and fewer stay failed.
    { columns: 'of_stream', where: 'last_failure IS NOT NULL' },
    // Indexed by day, because the index stores each day once: 7 bytes per row (projections/webhooks/expiry.ts).
    { columns: 'recorded_on', where: "status <> 'PENDING'" },
  ],
  derived: [counterTable(DELIVERY_COUNTS, countsOfDeliveries), fromThoseThatWait],
});
