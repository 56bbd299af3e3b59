// Old data is deleted faster than new data arises: at least five times the deliveries that the first version could delete (22,000,000 a
// day), and as many other rows. Prints both rates. ROWS changes the number of each.
import { expect } from 'chai';
import { withRests } from '../../application/ports/withRests.ts';
import { DeliveryRetention } from '../../application/webhooks/retention.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { oldRows } from '../../infrastructure/operations/oldRows.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { systemStopwatch as stopwatch } from '../../infrastructure/system/system.ts';
import { createSchema } from '../../projections/engine/schemaVersions.ts';
import { expiredDeliveries } from '../../projections/webhooks/expiry.ts';
import { webhookDeliveriesProjection } from '../../projections/webhooks/projection.ts';
import { oldDeliveries } from '../bench/oldDeliveries.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';

const ROWS = Number(process.env['ROWS'] ?? 50_000);
const PER_SECOND = (5 * 22_000_000) / 86_400;
/** The retention runs once a second. */
const TURN_MS = 1_000;

describe('the deletion of old data', () => {
  let database: TestDatabase;
  let db: PgPool;
  let store: Awaited<ReturnType<typeof openPostgresEventStore>>;
  before(async () => {
    database = await migratedDatabase();
    const { connectionString } = database;
    db = new PgPool(
      { ...connectionConfig(connectionString, 'soak'), options: '-c synchronous_commit=off' },
      1,
      () => undefined,
    );
    store = await openPostgresEventStore({ connectionString });
    await createSchema(db, webhookDeliveriesProjection, 'rm_webhook_deliveries');
  });
  after(async () => {
    await store.close();
    await db.close();
    await database.drop();
  });
  const count = async (what: string): Promise<number> =>
    (await db.query<{ count: number }>(`SELECT count(*) FROM ${what}`)).rows[0]?.count ?? 0;

  it(`deletes ${ROWS} deliveries with their streams at five times the former rate`, async () => {
    for (const statement of oldDeliveries(ROWS)) await db.query(statement);
    await db.query(
      `INSERT INTO event_store.events SELECT max(position) + 1, 0, now(), gen_random_uuid(), 'payment-1', 'x', '{}', '{}' FROM event_store.events`,
    );
    const expired = expiredDeliveries(db, store);
    const retention = new DeliveryRetention({
      expired,
      stopwatch,
      clock: Date,
      retentionDays: 90,
      mayWork: () => true,
    });
    const beganAtMs = performance.now();
    while ((await retention.deleted()) < ROWS) {
      const turnMs = performance.now();
      await retention.run();
      await stopwatch.pause(Math.max(0, TURN_MS - (performance.now() - turnMs)));
    }
    const perSecond = (ROWS * 1_000) / (performance.now() - beganAtMs);
    console.log(
      `    ${perSecond.toFixed(0)} deliveries/s, ${((perSecond * 86_400) / 1_000_000).toFixed(0)} million a day`,
    );
    expect([await count('event_store.events'), await count('rm_webhook_deliveries.deliveries')]).to.deep.equal([1, 0]);
    expect(perSecond).to.be.above(PER_SECOND);
  });

  it(`deletes ${ROWS} notifications at the same rate`, async () => {
    await db.query(
      `INSERT INTO operations.provider_notifications (account_id, mode, reference, payment_id, received_at, handled_at, outcome)
       SELECT 'a', 'live', n::text, 'p', now() - interval '181 days', now() - interval '181 days', 'settled' FROM generate_series(1, $1::int) n`,
      [ROWS],
    );
    const old = oldRows(db);
    const beganAtMs = performance.now();
    await withRests(stopwatch, Number.POSITIVE_INFINITY, () => old.deleteSome());
    const perSecond = (ROWS * 1_000) / (performance.now() - beganAtMs);
    console.log(`    ${perSecond.toFixed(0)} notifications/s, at most half of the time`);
    expect(await count('operations.provider_notifications')).to.equal(0);
    expect(perSecond).to.be.above(PER_SECOND);
  });
});
