// Lists of deliveries read little more than they return, for an account with 100,000 ended deliveries and 100,000 that wait for an
// unreachable endpoint (architecture §6).

import { expect } from 'chai';
import type { DeliveryFilter } from '../../../application/ports/readModels/views.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import type { AccountId, DeliveryId, EndpointId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import { addSeconds } from '../../../domain/kernel/time.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { deliveryViews } from '../../../projections/webhooks/lists.ts';
import { deliveriesOfPayment } from '../../../projections/webhooks/ofPayment.ts';
import { webhookDeliveriesProjection, webhookEndpointsProjection } from '../../../projections/webhooks/projection.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { useDatabase } from '../../world/postgres.ts';
import { plansOf, rowsRead } from '../engine/plans.ts';

const NOW = parseTimestamp('2026-11-21T13:00:00.000Z');
const TENANT: Tenant = { accountId: 'account' as AccountId, mode: 'test' };
const ROWS = 100_000;
const AWAY = 'endpoint-0' as EndpointId;
const WELL = 'endpoint-1' as EndpointId;

/**
 * Deliveries of five events to 16 endpoints: one in 50 failed and one was cancelled. As many others wait, all but ten for one endpoint and
 * all but one of one event.
 */
const FILL = [
  `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision, of_stream, of_revision, resend, form, event_type,
      endpoint_id, status, attempts, payment_id, scheduled_at, updated_at)
    SELECT 'd' || n, 'account', 'test', 0, 'p' || n, 2, 0, 1, 'event-' || n % 5, 'endpoint-' || n / 5 % 16,
      CASE WHEN n = 1 THEN 'CANCELLED' WHEN n / 80 % 50 = 0 THEN 'FAILED' ELSE 'DELIVERED' END, 1, 'p' || n / 4,
      timestamptz '${NOW}' - n * interval '1 second', timestamptz '${NOW}' FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO rm_webhook_deliveries.delivery_counts
    SELECT account_id, mode, endpoint_id, event_type, status, count(*) FROM rm_webhook_deliveries.deliveries GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO operations.scheduled_deliveries
      (id, account_id, mode, target, of_stream, of_revision, event_type, endpoint_id, resend, scheduled_at)
    SELECT 's' || n, 'account', 'test', e, 'p' || n, 2, CASE WHEN n = 50000 THEN 'event-1' ELSE 'event-0' END, e, 0,
      timestamptz '${NOW}' - n * interval '1 second'
    FROM generate_series(1, ${ROWS}) n
    CROSS JOIN LATERAL (SELECT CASE WHEN n % 10000 = 7 THEN 'endpoint-1' ELSE 'endpoint-0' END AS e) of`,
  'VACUUM ANALYZE',
];

describe('queries of 100,000 ended and 100,000 waiting deliveries', function suite() {
  let db: PgPool;
  useDatabase('suite', 1, (opened) => {
    db = opened;
  });
  before(async () => {
    for (const projection of [webhookDeliveriesProjection, webhookEndpointsProjection])
      await createSchema(db, projection, liveSchema(projection.name));
    for (const statement of FILL) await db.query(statement);
  });

  const page = (of: Sql, filter: Partial<DeliveryFilter>, running: readonly string[] = ['s8', 's9']) =>
    deliveryViews(of).list(TENANT, { limit: 100, offset: 0, ...filter }, running);

  // Bounds: a page of each table, with each waiting delivery looked up in the other table. A filter adds an index page for each
  // combination of endpoint, event and status (160), and the counters.
  const BEGUN = ROWS;
  for (const [what, filter, total, atMost] of [
    ['all deliveries', {}, BEGUN + ROWS, 900],
    ['deliveries from the thousandth on', { offset: 1_000 }, BEGUN + ROWS, 6_000],
    ['pending deliveries', { status: 'PENDING' }, ROWS - 2, 900],
    ['deliveries in progress', { status: 'PROCESSING' }, 2, 20],
    ['failed deliveries', { status: 'FAILED' }, 1_999, 9_000],
    ['the only cancelled delivery', { status: 'CANCELLED' }, 1, 400],
    ['deliveries of one event type', { eventType: 'event-0' }, BEGUN / 5 + ROWS - 1, 5_000],
    ['deliveries of an event type with one waiting delivery', { eventType: 'event-1' }, BEGUN / 5 + 1, 5_000],
    ['deliveries to the endpoint that is down', { endpointId: AWAY }, 6_250 + ROWS - 10, 3_000],
    ['deliveries to an endpoint with ten waiting deliveries', { endpointId: WELL }, 6_250 + 10, 3_000],
    ['the waiting deliveries of that endpoint', { endpointId: WELL, status: 'PENDING' }, 10, 200],
    ['no deliveries if none has the event type', { eventType: 'event-9' }, 0, 400],
  ] satisfies readonly (readonly [string, Partial<DeliveryFilter>, number, number])[])
    it(`list ${what} with the total and at most ${atMost} rows read`, async () => {
      const listed = await page(db, filter);
      expect([listed.total, listed.deliveries.length]).to.deep.equal([total, Math.min(total, 100)]);
      expect(rowsRead(await plansOf(db, (explained) => page(explained, filter)))).to.be.within(1, atMost);
    });

  for (const [what, filter] of [
    ['ended deliveries', { status: 'DELIVERED' }],
    ['deliveries of one event type', { eventType: 'event-0' }],
    ['waiting deliveries of one endpoint', { endpointId: AWAY, status: 'PENDING' }],
  ] satisfies readonly (readonly [string, Partial<DeliveryFilter>])[])
    it(`list ${what} without reading more rows while 10,000 others are in progress`, async () => {
      const others = Array.from({ length: 10_000 }, (_, n) => `other${n}`);
      const readWith = async (running: readonly string[]) =>
        rowsRead(await plansOf(db, (explained) => page(explained, filter, running)));
      expect(await readWith(others)).to.equal(await readWith([]));
    });

  it('list the waiting deliveries of one endpoint after the newest of them, which are in progress', async () => {
    const running = Array.from({ length: 300 }, (_, n) => `s${n + 1}`);
    const { deliveries, total } = await page(db, { endpointId: AWAY, status: 'PENDING', limit: 3 }, running);
    expect([deliveries.map(({ id }) => id), total]).to.deep.equal([['s301', 's302', 's303'], ROWS - 10 - 299]);
  });

  it('find the deliveries of a payment by the times of its events, with at most 40 rows read', async () => {
    const times = [...Array.from({ length: 4 }, (_, n) => addSeconds(NOW, -(400 + n))), addSeconds(NOW, 86_400)];
    const read = (of: Sql) => deliveriesOfPayment(of)(TENANT, 'p100' as PaymentId, times);
    expect((await read(db)).map(({ id }) => id)).to.deep.equal(['d403', 'd402', 'd401', 'd400']);
    const nodes = await plansOf(db, read);
    expect(nodes.filter((node) => node['Node Type'].includes('Seq Scan'))).to.deep.equal([]);
    expect(rowsRead(nodes)).to.be.within(4, 40);
  });

  it('read at most 400 rows for the counts and for one delivery', async () => {
    expect(await deliveryViews(db).stats(TENANT, ['s8', 's9'])).to.deep.equal({
      PENDING: ROWS - 2,
      PROCESSING: 2,
      DELIVERED: 98_000,
      FAILED: 1_999,
      CANCELLED: 1,
    });
    const reads = [
      (of: Sql) => deliveryViews(of).stats(TENANT, ['s8', 's9']),
      (of: Sql) => deliveryViews(of).find(TENANT, 's7' as DeliveryId, []),
      (of: Sql) => deliveryViews(of).find(TENANT, 'd7' as DeliveryId, []),
    ];
    for (const read of reads) expect(rowsRead(await plansOf(db, read))).to.be.within(1, 400);
  });
});
