// Deliveries that ended long ago are deleted from the log and the read model together (ADR 0008). The rest of the read model equals a
// rebuild from the log.

import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type DeliveryId,
  type EndpointId,
  encodeRawId,
  type PaymentId,
  type StreamName,
} from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addSeconds } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import {
  cancelDelivery,
  recordAttempt,
  requestRetry,
  WEBHOOK_DELIVERY,
  type WebhookDeliveryEvent,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { openPostgresEventStore } from '../../../infrastructure/eventStore/postgres/store.ts';
import { leaderSessions } from '../../../infrastructure/postgres/leaderSession.ts';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { createCheckpoint, readCheckpoints } from '../../../projections/engine/checkpoints.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { holdRetention } from '../../../projections/engine/retentionLock.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { verify } from '../../../projections/engine/verify.ts';
import { expiredDeliveries } from '../../../projections/webhooks/expiry.ts';
import { webhookDeliveriesProjection } from '../../../projections/webhooks/projection.ts';
import { testCodec } from '../../support/dataKeys.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';
import { ACCOUNT_ID, CREATED_AT, PAYMENT_ID } from '../../support/samples.ts';
import { deliveryOf, REFUSED, TAKEN } from '../../world/deliveries.ts';

const ENDPOINTS = ['00000000000000000000000003', '00000000000000000000000004'] as EndpointId[];
const ACTS = ['taken', 'refused', 'refusedForGood', 'cancelled', 'askedFor'] as const;
type Act = (typeof ACTS)[number];
/** A delivery: what happened to it, and on which day after 2026-01-01 each act was recorded. */
interface History {
  readonly endpoint: number;
  readonly acts: readonly { readonly act: Act; readonly daysLater: number }[];
}

const day = (days: number): string => new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10);

/** Returns the events of a history with their days, and whether the delivery ended. */
const eventsOf = ({ endpoint, acts }: History) => {
  const target = ENDPOINTS[endpoint] as EndpointId;
  const of = { delivery: deliveryOf({ endpointId: target }), target };
  const events: { readonly event: WebhookDeliveryEvent; readonly day: number }[] = [];
  let state = webhookDelivery.initial;
  let today = 0;
  const decided = (act: Act) => {
    const at = addSeconds(CREATED_AT, events.length + 1);
    const number = (state.status === 'absent' ? 0 : state.attempts) + 1;
    if (act === 'taken') return recordAttempt(of, number, TAKEN, at, 0)(state);
    if (act === 'cancelled') return cancelDelivery(of, 'x', at)(state);
    return act === 'askedFor' ? requestRetry(of, at)(state) : recordAttempt(of, number, REFUSED, at, 0)(state);
  };
  for (const { act, daysLater } of acts) {
    today += daysLater;
    for (let times = act === 'refusedForGood' ? 15 : 1; times > 0; times--) {
      const done = decided(act);
      if (isRejection(done)) throw new Error(done.message);
      for (const event of done.events) {
        events.push({ event, day: today });
        state = webhookDelivery.evolve(state, event);
      }
    }
  }
  return { events, hasEnded: state.status !== 'absent' && state.status !== 'pending' };
};

const histories = fc.array(
  fc.record({
    endpoint: fc.nat({ max: 1 }),
    acts: fc.array(fc.record({ act: fc.constantFrom(...ACTS), daysLater: fc.nat({ max: 3 }) }), {
      minLength: 1,
      maxLength: 5,
    }),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('deleting deliveries that ended long ago', () => {
  let log: PostgresEventLog;
  let store: Awaited<ReturnType<typeof openPostgresEventStore>>;
  let db: PgPool;
  const codec = testCodec();
  const openSession = (role: string) => leaderSessions(connectionConfig(log.connectionString, 'test'))(role);
  before(async () => {
    log = await createPostgresEventLog();
    store = await openPostgresEventStore({ connectionString: log.connectionString });
    db = new PgPool(connectionConfig(log.connectionString, 'test'), 3, () => undefined);
  });
  after(async () => {
    await store.close();
    await db.close();
    await log.dispose();
  });
  beforeEach(() => reset());

  const reopen = async () => {
    await store.close();
    store = await openPostgresEventStore({ connectionString: log.connectionString });
  };
  const reset = async () => {
    await loseFacts(db, 'TRUNCATE event_store.events');
    await db.query('DELETE FROM subscriptions.checkpoints');
    await db.query('DELETE FROM subscriptions.parked_streams');
    await db.query('DELETE FROM operations.owed');
    await db.query('DELETE FROM operations.timers');
    await db.query('DELETE FROM operations.scheduled_deliveries');
    await db.query('UPDATE operations.webhook_retention SET deleted = 0');
    await reopen();
    await createSchema(db, webhookDeliveriesProjection, 'rm_webhook_deliveries');
    await createCheckpoint(db, {
      name: 'webhookDeliveries',
      version: webhookDeliveriesProjection.version,
      storeId: store.storeId,
      position: null,
      eventId: null,
    });
  };

  const metadata = {
    account: ACCOUNT_ID,
    mode: 'test',
    actor: 'operator:test',
    requestId: null,
    correlationId: 'x',
    causationId: 'x',
  } as const;
  const append = async (stream: StreamName, after: number, events: readonly WebhookDeliveryEvent[]) => {
    const encoded = await codec.encode({
      serde: WEBHOOK_DELIVERY.serde,
      stream,
      after,
      events,
      commandId: randomUUID(),
      metadata,
    });
    expect((await store.append(stream, after, encoded)).ok).to.equal(true);
  };
  /** Appends the histories event by event in turn, as in a real log, dates the events, and builds the read model. */
  const written = async (all: readonly History[]) => {
    const deliveries = all.map((history) => ({ id: encodeRawId(randomBytes(16)) as DeliveryId, ...eventsOf(history) }));
    const longest = Math.max(...deliveries.map(({ events }) => events.length));
    for (let n = 0; n < longest; n++)
      await Promise.all(
        deliveries.map(async ({ id, events }) => {
          const one = events[n];
          if (one !== undefined) await append(WEBHOOK_DELIVERY.stream(id), n - 1, [one.event]);
        }),
      );
    for (const { id, events } of deliveries)
      for (const [revision, one] of events.entries())
        await db.query(
          `UPDATE event_store.events SET recorded_at = $3::date + interval '23 hours 59 minutes' WHERE stream = $1 AND revision = $2`,
          [WEBHOOK_DELIVERY.stream(id), revision, day(one.day)],
        );
    await loseFacts(
      db,
      `INSERT INTO event_store.events (position, revision, recorded_at, id, stream, type, data, metadata)
      SELECT max(position) + 1, 0, now(), gen_random_uuid(), 'payment-' || gen_random_uuid(), 'x', '{}', '{}' FROM event_store.events`,
    );
    await reopen(); // The reopened store has an empty cache.
    await rebuild([webhookDeliveriesProjection], { store, codec }, openSession);
    return deliveries.map(({ id, events, hasEnded }) => ({ id, hasEnded, lastDay: day(events.at(-1)?.day ?? 0) }));
  };
  const rowsOf = async () => {
    const { rows } = await db.query<{ text: string }>(
      'SELECT d::text AS text FROM rm_webhook_deliveries.deliveries d ORDER BY id',
    );
    const counts = await db.query<{ text: string }>(
      'SELECT c::text AS text FROM rm_webhook_deliveries.delivery_counts c WHERE deliveries <> 0 ORDER BY 1',
    );
    return [rows, counts.rows].map((list) => list.map(({ text }) => text));
  };
  const idsLeft = async () =>
    (await db.query<{ id: string }>('SELECT id FROM rm_webhook_deliveries.deliveries ORDER BY id')).rows.map(
      ({ id }) => id,
    );
  const streamsLeft = async () =>
    (
      await db.query<{ id: string }>(
        `SELECT DISTINCT substr(stream, 17) AS id FROM event_store.events WHERE stream LIKE 'webhookDelivery-%' ORDER BY 1`,
      )
    ).rows.map(({ id }) => id);
  const differences = async () =>
    (await verify([webhookDeliveriesProjection], { store, codec }, openSession)).differences;
  const taken = (daysLater = 0): History => ({ endpoint: 0, acts: [{ act: 'taken', daysLater }] });
  const expired = () => expiredDeliveries(db, store);
  const deleteSome = async (recordedBefore: string, limit: number) =>
    (await expired().deleteSome(recordedBefore, limit, []))?.deleted ?? null;

  it('removes exactly those, with all their events, and leaves what a rebuild would make', () =>
    fc.assert(
      fc.asyncProperty(histories, fc.nat({ max: 12 }), async (all, cutoff) => {
        await reset();
        const deliveries = await written(all);
        const isExpired = ({ hasEnded, lastDay }: (typeof deliveries)[number]) => hasEnded && lastDay < day(cutoff);
        expect(await deleteSome(day(cutoff), 100)).to.equal(deliveries.filter(isExpired).length);
        const left = deliveries.filter((one) => !isExpired(one)).map(({ id }) => id);
        expect(await idsLeft()).to.deep.equal(left.toSorted());
        expect(await streamsLeft()).to.deep.equal(left.toSorted());
        expect(await differences()).to.deep.equal([]);
        const live = await rowsOf();
        await rebuild([webhookDeliveriesProjection], { store, codec }, openSession);
        expect(await rowsOf()).to.deep.equal(live);
        expect(await deleteSome(day(cutoff), 100)).to.equal(0);
      }),
      { numRuns: 8 },
    ));

  it('removes the oldest first, up to the given number, and counts them', async () => {
    const [youngest, oldest, between] = await written([taken(2), taken(0), taken(1)]);
    expect(await deleteSome(day(9), 2)).to.equal(2);
    expect(await idsLeft()).to.deep.equal([youngest?.id]);
    expect(await differences()).to.deep.equal([]);
    expect(await deleteSome(day(9), 2)).to.equal(1);
    expect(await expired().deleted()).to.equal(3);
    expect(oldest && between && (await streamsLeft())).to.deep.equal([]);
  });

  it('keeps deliveries of the cutoff day and removes them with the next day’s cutoff', async () => {
    await written([taken(5)]);
    expect(await deleteSome(day(5), 9)).to.equal(0);
    expect(await deleteSome(day(6), 9)).to.equal(1);
  });

  it('keeps deliveries that are owed, scheduled, due or parked', async () => {
    const [{ id }] = (await written([taken()])) as unknown as [{ id: DeliveryId }];
    const holds: readonly (readonly [string, readonly unknown[], string])[] = [
      [
        `INSERT INTO operations.owed (queue, payload, tenant) VALUES ('fanOut', $1::jsonb::text, 'test/x')`,
        [JSON.stringify({ stream: PAYMENT.stream(PAYMENT_ID), revision: 1, endpointIds: ENDPOINTS })],
        'DELETE FROM operations.owed',
      ],
      [
        `INSERT INTO operations.scheduled_deliveries (id, account_id, mode, target, of_stream, of_revision, event_type, resend, scheduled_at)
         VALUES ($1, 'a', 'test', 't', 'p', 1, 'charge.paid', 0, now())`,
        [id],
        'DELETE FROM operations.scheduled_deliveries',
      ],
      [
        `INSERT INTO operations.timers (kind, key, account_id, mode, due_at, payload) VALUES ('deliver', $1, 'a', 'test', now(), '{}')`,
        [id],
        'DELETE FROM operations.timers',
      ],
      [
        `INSERT INTO subscriptions.parked_streams (consumer, stream, revision, event_id, event_type, error) VALUES ('x', $1, 0, 'x', 'x', 'x')`,
        [WEBHOOK_DELIVERY.stream(id)],
        'DELETE FROM subscriptions.parked_streams',
      ],
    ];
    for (const [hold, values, release] of holds) {
      await db.query(hold, values);
      expect(await deleteSome(day(9), 9), hold).to.equal(0);
      await db.query(release);
    }
    expect(await deleteSome(day(9), 9)).to.equal(1);
  });

  it('ignores work on other streams and of other kinds', async () => {
    await written([taken()]);
    const owe = (queue: string, stream: StreamName) =>
      db.query(`INSERT INTO operations.owed (queue, payload, tenant) VALUES ($1, $2::jsonb::text, 'test/x')`, [
        queue,
        JSON.stringify({ stream }),
      ]);
    await owe('fanOut', PAYMENT.stream('another' as PaymentId));
    await owe('receipts', PAYMENT.stream(PAYMENT_ID));
    expect(await deleteSome(day(9), 9)).to.equal(1);
  });

  it('deletes nothing while a copy is being compared or built', async () => {
    await written([taken()]);
    const session = await openSession('test');
    await holdRetention(session);
    expect(await deleteSome(day(9), 9)).to.equal(null);
    const other = await openSession('test');
    await holdRetention(other); // Two holders at once.
    await session.close();
    expect(await deleteSome(day(9), 9)).to.equal(null);
    await other.close();
    expect(await deleteSome(day(9), 9)).to.equal(1);
  });

  it('discards the copy of a killed rebuild that contains deleted deliveries', async () => {
    await written([taken(0), taken(8)]);
    const killed = new AbortController();
    const stopped = rebuild([webhookDeliveriesProjection], { store, codec }, openSession, {
      signal: killed.signal,
      onTaken: () => killed.abort(),
    });
    expect(
      await stopped.then(
        () => 'done',
        () => 'killed',
      ),
    ).to.equal('killed');
    const besides = async () => [...(await readCheckpoints(db, ['webhookDeliveries/next'])).keys()];
    expect(await besides()).to.deep.equal(['webhookDeliveries/next']);
    expect(await deleteSome(day(5), 9)).to.equal(1);
    expect(await besides()).to.deep.equal([]);
    const live = await rowsOf();
    await rebuild([webhookDeliveriesProjection], { store, codec }, openSession);
    expect(await rowsOf()).to.deep.equal(live);
  });

  it('keeps a delivery whose row is behind its stream', async () => {
    const [{ id }] = (await written([taken(0)])) as unknown as [{ id: DeliveryId }];
    const events = eventsOf({
      endpoint: 0,
      acts: [
        { act: 'taken', daysLater: 0 },
        { act: 'askedFor', daysLater: 0 },
      ],
    }).events;
    await append(WEBHOOK_DELIVERY.stream(id), 0, [events[1]?.event as WebhookDeliveryEvent]);
    expect(await deleteSome(day(9), 9)).to.equal(0);
    expect(await streamsLeft()).to.deep.equal([id]);
    expect(await idsLeft()).to.deep.equal([id]);
  });

  it('passes over deliveries that were kept, and deletes later ones', async () => {
    const [skipped] = (await written([taken(0), taken(1)])) as unknown as [{ id: DeliveryId }];
    // As after an operator skipped the last event.
    const acts = (['taken', 'askedFor'] as const).map((act) => ({ act, daysLater: 0 }));
    const [, last] = eventsOf({ endpoint: 0, acts }).events;
    await append(WEBHOOK_DELIVERY.stream(skipped.id), 0, [last?.event as WebhookDeliveryEvent]);
    expect(await expired().deleteSome(day(9), 1, [])).to.deep.equal({ deleted: 0, kept: [skipped.id] });
    expect(await expired().deleteSome(day(9), 1, [skipped.id])).to.deep.equal({ deleted: 1, kept: [] });
    expect([await streamsLeft(), await idsLeft()]).to.deep.equal([[skipped.id], [skipped.id]]);
  });

  it('changes nothing if the commit fails', async () => {
    await written([taken()]);
    const before = await rowsOf();
    const failing = {
      ...db,
      query: db.query.bind(db),
      transaction: <T>(work: Parameters<typeof db.transaction<T>>[0]) =>
        db.transaction(async (tx) => {
          await work(tx);
          throw new Error('no');
        }) as Promise<T>,
    };
    expect(
      await expiredDeliveries(failing, store)
        .deleteSome(day(9), 9, [])
        .catch(({ message }: Error) => message),
    ).to.equal('no');
    expect(await rowsOf()).to.deep.equal(before);
    expect((await streamsLeft()).length).to.equal(1);
    expect(await differences()).to.deep.equal([]);
  });
});
