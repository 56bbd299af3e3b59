// Reads of one account’s 5,000,000 webhook deliveries, from query to JSON. Bodies are rendered from the payments’ events.

import { randomBytes } from 'node:crypto';
import { CommandHandler } from '../../application/core/commandHandler.ts';
import type { DeliveryFilter, ListedDelivery } from '../../application/ports/readModels/views.ts';
import { StreamMessages } from '../../application/webhooks/streamMessages.ts';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { readStreamName } from '../../domain/kernel/aggregate.ts';
import { type AccountId, type DeliveryId, type EndpointId, encodeRawId, type Tenant } from '../../domain/kernel/ids.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { DELIVERY_STATUSES, deliveryView } from '../../domain/presentation/delivery.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { connectionConfig, PgSession } from '../../infrastructure/postgres/session.ts';
import { systemRandomness, systemStopwatch } from '../../infrastructure/system/system.ts';
import { liveSchema } from '../../projections/engine/projection.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { deliveryViews } from '../../projections/webhooks/lists.ts';
import { webhookDeliveriesProjection, webhookEndpointsProjection } from '../../projections/webhooks/projection.ts';
import { testCodec } from '../support/dataKeys.ts';
import { migratedDatabase } from '../world/postgres.ts';
import { rowOf, timesOf } from './lists.ts';
import type { BenchRow } from './row.ts';
import { appendAll, paidPayment } from './seed.ts';

const DELIVERIES = 5_000_000;
const DELIVERIES_QUICK = 50_000;
/** Number of payments whose events are in the log. The deliveries repeat them, five in a row for each. */
const PAYMENTS = 4_000;
const GOAL_MS = 20;
/** Messages about a paid payment, each with the revision of its event. */
const MESSAGES = [
  ['charge.created', 1],
  ['payment.created', 1],
  ['charge.paid', 2],
  ['payment.completed', 2],
  ['payment.status_changed', 2],
] as const;
const TYPES = MESSAGES.map(([type]) => type);
const ENDPOINTS = Array.from({ length: 16 }, () => encodeRawId(randomBytes(16)) as EndpointId);

/** Oldest first, ten per second. One in 50 has failed finally, one in 200 awaits a retry, and one in 200 was cancelled. */
const FILL = `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, of_stream, of_revision, resend, form, event_type,
    endpoint_id, status, attempts, last_status_code, target, scheduled_at, updated_at, next_attempt_at)
  SELECT 'd' || lpad(md5(n::text), 25, '0'), $1, 'test', 0, 'payment-' || ($2::text[])[1 + n / 5 % ${PAYMENTS}], ($3::int[])[1 + n % 5], 0, 1,
    ($4::text[])[1 + n % 5], ($5::text[])[1 + n / 7 % 16], s.status, 1, 200, CASE WHEN s.status = 'PENDING' THEN 'target' END,
    $8::timestamptz + n * interval '100 ms', $8::timestamptz + n * interval '100 ms', CASE WHEN s.status = 'PENDING' THEN now() + interval '1 hour' END
  FROM generate_series($6::int, $7::int) n
  CROSS JOIN LATERAL (SELECT CASE WHEN n / 5 % 50 = 0 THEN 'FAILED' WHEN n / 5 % 200 = 1 THEN 'PENDING' WHEN n / 5 % 200 = 2 THEN 'CANCELLED'
    ELSE 'DELIVERED' END AS status) s`;
const COUNT = `INSERT INTO rm_webhook_deliveries.delivery_counts
  SELECT account_id, mode, endpoint_id, event_type, status, count(*) FROM rm_webhook_deliveries.deliveries GROUP BY 1, 2, 3, 4, 5`;
const STEP = 100_000;
/** One in five deliveries waits for an endpoint that is down. One in 10,000 of these waits for another one. */
const WAITING_SHARE = 5;
const WAIT = `INSERT INTO operations.scheduled_deliveries (id, account_id, mode, target, of_stream, of_revision, event_type, endpoint_id,
    resend, scheduled_at)
  SELECT 's' || lpad(md5(n::text), 25, '0'), $1, 'test', e, 'payment-' || ($2::text[])[1 + n % ${PAYMENTS}], 2, 'charge.paid', e, 0,
    now() - n * interval '10 ms'
  FROM generate_series(1, $3::int) n CROSS JOIN LATERAL (SELECT ($4::text[])[CASE WHEN n % 10000 = 1 THEN 2 ELSE 1 END] AS e) of`;

export const deliveryLists: BenchRow = async ({ quick, say }) => {
  const deliveries = quick ? DELIVERIES_QUICK : DELIVERIES;
  const database = await migratedDatabase();
  const { connectionString } = database;
  const session = await PgSession.open(connectionConfig(connectionString, 'quita bench'));
  await session.query('SET statement_timeout = 0');
  const store = await openPostgresEventStore({ connectionString });
  const tenant: Tenant = { accountId: encodeRawId(randomBytes(16)) as AccountId, mode: 'test' };
  const payments: string[] = [];
  const codec = testCodec();
  await appendAll({ store, codec }, () => {
    if (payments.length === PAYMENTS) return null;
    const payment = paidPayment(payments.length, tenant.accountId);
    payments.push(readStreamName(payment.stream).id);
    return payment;
  });
  for (const projection of [webhookDeliveriesProjection, webhookEndpointsProjection])
    await createSchema(session, projection, liveSchema(projection.name));
  say(`deliveryLists: writing ${deliveries} deliveries of one account`);
  const begunAt = fromMillis(Date.now() - deliveries * 100);
  const revisions = MESSAGES.map(([, revision]) => revision);
  for (let from = 1; from <= deliveries; from += STEP)
    await session.query(FILL, [
      tenant.accountId,
      payments,
      revisions,
      TYPES,
      ENDPOINTS,
      from,
      from + STEP - 1,
      begunAt,
    ]);
  await session.query(COUNT);
  await session.query('VACUUM ANALYZE');

  const system = { randomness: systemRandomness, stopwatch: systemStopwatch };
  const messages = new StreamMessages(new CommandHandler({ store, codec, ...system }), AGGREGATES);
  const now = fromMillis(Date.now());
  const shown = async (found: readonly ListedDelivery[]) => {
    const bodies = await messages.bodiesOf(found.map(({ state }) => state.delivery));
    return found.map((listed, n) => deliveryView(listed.id, listed.state, listed.now, bodies[n] as string, now));
  };
  const list = (filter: Partial<DeliveryFilter>) => async () => {
    const page = await deliveryViews(session).list(tenant, { limit: 100, offset: 0, ...filter }, []);
    return { data: await shown(page.deliveries), total: page.total };
  };
  const [first] = (await deliveryViews(session).list(tenant, { limit: 1, offset: 0 }, [])).deliveries;
  const one = async () => {
    const found = await deliveryViews(session).find(tenant, first?.id as DeliveryId, []);
    return found && shown([found]);
  };
  const filters: readonly Partial<DeliveryFilter>[] = [
    ...DELIVERY_STATUSES.map((status) => ({ status })),
    ...TYPES.map((eventType) => ({ eventType })),
    ...ENDPOINTS.map((endpointId) => ({ endpointId })),
    ...ENDPOINTS.map((endpointId) => ({ endpointId, status: 'FAILED' as const, eventType: 'charge.paid' })),
  ];
  const offsets = [0, 100, 1_000, 5_000].map((offset) => list({ offset }));
  const rows = [
    rowOf('deliveries with total, pages of 100', await timesOf(offsets, 25), GOAL_MS),
    rowOf('deliveries by each filter with total, pages of 100', await timesOf(filters.map(list), 3), GOAL_MS),
    rowOf('one delivery', await timesOf([one], 100), GOAL_MS),
    rowOf('numbers of deliveries', await timesOf([() => deliveryViews(session).stats(tenant, [])], 100), GOAL_MS),
  ];
  const waiting = deliveries / WAITING_SHARE;
  say(`deliveryLists: writing ${waiting} that wait`);
  await session.query(WAIT, [tenant.accountId, payments, waiting, ENDPOINTS]);
  await session.query('VACUUM ANALYZE operations.scheduled_deliveries');
  const amongWaiting: readonly Partial<DeliveryFilter>[] = [
    {},
    { status: 'PENDING' },
    ...TYPES.map((eventType) => ({ eventType })),
    ...ENDPOINTS.slice(0, 2).map((endpointId) => ({ endpointId })),
    ...ENDPOINTS.slice(0, 2).map((endpointId) => ({ endpointId, status: 'PENDING' as const })),
  ];
  rows.push(
    rowOf(
      `deliveries with total while ${waiting} wait, pages of 100`,
      await timesOf(amongWaiting.map(list), 10),
      GOAL_MS,
    ),
    rowOf(
      `numbers of deliveries while ${waiting} wait`,
      await timesOf([() => deliveryViews(session).stats(tenant, [])], 100),
      GOAL_MS,
    ),
  );
  await store.close();
  await session.close();
  await database.drop();
  return rows.map((row) => ({ ...row, name: 'deliveryLists', what: `${row.what}, ${deliveries} deliveries` }));
};
