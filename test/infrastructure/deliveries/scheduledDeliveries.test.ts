// Deliveries without an attempt are stored once, together with their jobs, and removed when the read model shows their first attempt.

import { expect } from 'chai';
import type { LoggedEvent } from '../../../application/ports/loggedEvent.ts';
import type { ScheduledDeliveries, ScheduledDelivery } from '../../../application/ports/scheduledDeliveries.ts';
import type { SqlPool, SqlStatement, TextArray } from '../../../application/ports/sql.ts';
import type { DeliveryId, EndpointId, PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { scheduledDeliveries } from '../../../infrastructure/deliveries/scheduledDeliveries.ts';
import type { PgPool } from '../../../infrastructure/postgres/session.ts';
import { liveSchema, nextSchema } from '../../../projections/engine/projection.ts';
import { createSchema } from '../../../projections/engine/schemaVersions.ts';
import { webhookDeliveriesProjection } from '../../../projections/webhooks/projection.ts';
import { isShown } from '../../../projections/webhooks/untried.ts';
import { RecordingJobs } from '../../support/operations.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';
import { useDatabase } from '../../world/postgres.ts';

const scheduled = (id: string, over: Partial<ScheduledDelivery['delivery']> = {}): ScheduledDelivery => ({
  deliveryId: id as DeliveryId,
  tenant: { accountId: ACCOUNT_ID, mode: 'live' },
  target: 'endpoint',
  delivery: {
    stream: PAYMENT.stream('p' as PaymentId),
    revision: 2,
    paymentId: 'p' as PaymentId,
    eventType: 'charge.paid',
    endpointId: 'endpoint' as EndpointId,
    resend: 0,
    scheduledAt: at('13:00:00'),
    ...over,
  },
});

describe('scheduled deliveries', () => {
  let pool: PgPool;
  let jobs: RecordingJobs;
  let deliveries: ScheduledDeliveries;
  useDatabase('test', 4, (opened) => {
    pool = opened;
  });
  beforeEach(async () => {
    jobs = new RecordingJobs();
    deliveries = scheduledDeliveries(pool, jobs, isShown);
    const { name } = webhookDeliveriesProjection;
    await pool.transaction((tx) => createSchema(tx, webhookDeliveriesProjection, liveSchema(name)));
  });
  const withJob = (one: ScheduledDelivery) => ({
    scheduled: one,
    job: { queue: 'deliver', tenant: one.tenant, payload: { deliveryId: one.deliveryId }, target: one.target },
  });
  const schedule = (...all: readonly ScheduledDelivery[]) => deliveries.schedule(all.map(withJob));
  const written = async () =>
    (await pool.query<{ id: string }>('SELECT id FROM operations.scheduled_deliveries ORDER BY id')).rows.map(
      ({ id }) => id,
    );
  const show = (id: string) =>
    pool.query(
      `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision) VALUES ($1, $2, 'live', 0)`,
      [id, ACCOUNT_ID],
    );

  it('stores deliveries of concurrent calls in few transactions, each once with one job', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `d${n + 10}`);
    const calls = [...ids, ...ids].map((id) => schedule(scheduled(id)));
    await Promise.all(calls);
    expect(await written()).to.deep.equal(ids);
    expect(jobs.enqueued.map(({ payload }) => payload['deliveryId']).toSorted()).to.deep.equal(ids);
    const { rows } = await pool.query<{ transactions: number }>(
      'SELECT count(DISTINCT xmin::text)::int AS transactions FROM operations.scheduled_deliveries',
    );
    expect(rows[0]?.transactions).to.be.oneOf([2, 3]); // 2 if the third began first, and stored the delivery of another
  });

  it('are returned as they were written', async () => {
    const toUrl = scheduled('b', { endpointId: null, resend: 3, eventType: 'payment.created', revision: 0 });
    await schedule(scheduled('a'), toUrl);
    const found = await deliveries.find(['a', 'b', 'c'] as DeliveryId[]);
    expect([...found]).to.have.deep.members([
      ['a', scheduled('a')],
      ['b', toUrl],
    ]);
    expect(jobs.enqueued.map(({ payload }) => payload)).to.deep.equal([{ deliveryId: 'a' }, { deliveryId: 'b' }]);
  });
  it('are found by a process that did not write them, beside its own', async () => {
    await schedule(scheduled('a'));
    const other = scheduledDeliveries(pool, jobs, isShown);
    await other.schedule([withJob(scheduled('b'))]);
    expect([...(await other.find(['a', 'b', 'c'] as DeliveryId[]))]).to.have.deep.members([
      ['a', scheduled('a')],
      ['b', scheduled('b')],
    ]);
  });
  it('are not found after they have begun and were swept', async () => {
    await schedule(scheduled('a'));
    await show('a');
    deliveries.begun('a' as DeliveryId);
    expect([...(await deliveries.find(['a' as DeliveryId])).keys()]).to.deep.equal(['a']);
    await deliveries.sweep();
    expect([...(await deliveries.find(['a' as DeliveryId])).keys()]).to.deep.equal([]);
  });
  it('are stored once with one job, however often they are scheduled', async () => {
    await schedule(scheduled('a'));
    await schedule(scheduled('a'), scheduled('b'));
    expect(await written()).to.deep.equal(['a', 'b']);
    expect(jobs.enqueued.map(({ payload }) => payload)).to.deep.equal([{ deliveryId: 'a' }, { deliveryId: 'b' }]);
  });
  it('keep their content if they are scheduled again with other content', async () => {
    await schedule(scheduled('a'));
    await schedule(scheduled('a', { eventType: 'charge.expired' }));
    expect((await deliveries.find(['a' as DeliveryId])).get('a' as DeliveryId)).to.deep.equal(scheduled('a'));
  });
  it('are not stored if their jobs could not be written', async () => {
    jobs.enqueue = async () => {
      throw new Error('no');
    };
    await schedule(scheduled('a')).then(
      () => expect.fail(),
      () => undefined,
    );
    expect(await written()).to.deep.equal([]);
  });
  it('are removed only after they have begun and the read model shows it', async () => {
    await schedule(scheduled('a'), scheduled('b'), scheduled('c'));
    await deliveries.sweep();
    deliveries.begun('a' as DeliveryId);
    deliveries.begun('b' as DeliveryId);
    await deliveries.sweep();
    expect(await written()).to.deep.equal(['a', 'b', 'c']);
    await show('a');
    for (let n = 0; n < 2; n++) await deliveries.sweep();
    expect(await written()).to.deep.equal(['b', 'c']);
    await show('b');
    await deliveries.sweep();
    expect(await written()).to.deep.equal(['c']);
  });
  it('are swept 1,000 at a time in turn while the read model shows none, and at once when it does, at most 10,000', async () => {
    await pool.query(
      `INSERT INTO operations.scheduled_deliveries
         (id, account_id, mode, target, of_stream, of_revision, event_type, endpoint_id, resend, scheduled_at)
       SELECT 'd' || n, $1, 'live', 'e', 'payment-p', 2, 'charge.paid', 'e', 0, now() FROM generate_series(1, 10010) n`,
      [ACCOUNT_ID],
    );
    const asked: string[][] = [];
    const counting: SqlPool = {
      query: (statement, values) => {
        const [ids] = (statement as SqlStatement).values as [TextArray];
        asked.push(ids.texts as string[]);
        return pool.query(statement, values);
      },
      transaction: (work) => pool.transaction(work),
    };
    const own = scheduledDeliveries(counting, jobs, isShown);
    for (let n = 1; n <= 10_010; n++) own.begun(`d${n}` as DeliveryId);
    for (let n = 0; n < 10; n++) await own.sweep();
    expect(asked.map((ids) => ids.length)).to.deep.equal(Array(10).fill(1_000));
    expect(new Set(asked.flat()).size).to.equal(10_000);
    await pool.query(
      `INSERT INTO rm_webhook_deliveries.deliveries (id, account_id, mode, revision)
       SELECT id, account_id, mode, 0 FROM operations.scheduled_deliveries`,
    );
    await own.sweep();
    expect((await written()).length).to.equal(10);
    await deliveries.sweepAll();
    expect(await written()).to.deep.equal([]);
  });
  it('begun by another process are removed by sweepAll when the read model shows them', async () => {
    await schedule(scheduled('a'), scheduled('b'));
    await show('b');
    await deliveries.sweep();
    expect(await written()).to.deep.equal(['a', 'b']);
    await deliveries.sweepAll();
    expect(await written()).to.deep.equal(['a']);
  });

  describe('the counts of scheduled deliveries', () => {
    const toUrl = (id: string) => scheduled(id, { endpointId: null, eventType: 'payment.created' });
    const counted = async () => {
      const { rows } = await pool.query<{ endpoint_id: string; event_type: string; deliveries: number }>(
        `SELECT endpoint_id, event_type, sum(deliveries)::bigint AS deliveries FROM operations.scheduled_counts
         WHERE account_id = $1 AND mode = 'live' GROUP BY 1, 2 ORDER BY 1, 2`,
        [ACCOUNT_ID],
      );
      return rows.map(({ endpoint_id: endpoint, event_type: type, deliveries }) => [endpoint, type, deliveries]);
    };

    it('are by endpoint and event, and ignore repeated scheduling', async () => {
      await schedule(scheduled('a'), toUrl('b'), scheduled('c'));
      await schedule(scheduled('a'), scheduled('a', { eventType: 'charge.expired' }), toUrl('d'));
      expect(await counted()).to.deep.equal([
        ['', 'payment.created', 2],
        ['endpoint', 'charge.paid', 2],
      ]);
    });
    it('are unchanged if the deliveries could not be written', async () => {
      await schedule(scheduled('a'));
      jobs.enqueue = async () => {
        throw new Error('no');
      };
      await schedule(scheduled('b')).catch(() => undefined);
      expect(await counted()).to.deep.equal([['endpoint', 'charge.paid', 1]]);
    });
    it('are deleted for deleted endpoints without pending deliveries', async () => {
      const to = (id: string, endpointId: string) => scheduled(id, { endpointId: endpointId as EndpointId });
      await pool.query(
        `INSERT INTO operations.webhook_subscriptions (endpoint_id, account_id, mode, events, is_active)
         VALUES ('inactive', $1, 'live', '{*}', false)`,
        [ACCOUNT_ID],
      );
      const kept = async () => {
        await deliveries.sweepAll();
        const { rows } = await pool.query<{ kept: string }>(
          "SELECT endpoint_id || ' ' || change AS kept FROM operations.scheduled_counts ORDER BY 1",
        );
        return rows.map((row) => row.kept);
      };
      await schedule(to('a', 'inactive'), to('b', 'deleted'), to('c', 'deleted'), toUrl('d'));
      for (const id of ['a', 'b', 'd']) await show(id);
      const others = [' delete', ' insert', 'inactive delete', 'inactive insert'];
      expect(await kept()).to.have.members([...others, 'deleted delete', 'deleted insert']);
      await show('c');
      await kept(); // removes the last delivery
      expect(await kept()).to.have.members(others);
      await schedule(to('e', 'deleted'));
      expect(await counted()).to.deep.include(['deleted', 'charge.paid', 1]);
    });
    it('of a deleted endpoint stay correct if another transaction changes them during a sweep', async () => {
      await schedule(scheduled('a'));
      await show('a');
      deliveries.begun('a' as DeliveryId);
      await deliveries.sweep();
      expect(await counted()).to.deep.equal([['endpoint', 'charge.paid', 0]]);
      await pool.transaction(async (tx) => {
        await tx.query(
          `INSERT INTO operations.scheduled_deliveries (id, account_id, mode, target, of_stream, of_revision, event_type, endpoint_id, resend,
             scheduled_at) VALUES ('b', $1, 'live', 'endpoint', 'payment-p', 2, 'charge.paid', 'endpoint', 0, now())`,
          [ACCOUNT_ID],
        );
        await deliveries.sweepAll();
      });
      expect(await counted()).to.deep.equal([['endpoint', 'charge.paid', 1]]);
    });
    it('stay exact under concurrent schedule, show and sweepAll', async () => {
      const round = async (n: number) => {
        await schedule(scheduled(`x${n}`));
        await show(`x${n}`);
        await deliveries.sweepAll();
      };
      await Promise.all(Array.from({ length: 20 }, (_, n) => round(n)));
      await schedule(scheduled('last'));
      await deliveries.sweepAll();
      expect(await counted()).to.deep.equal([['endpoint', 'charge.paid', 1]]);
    });
    it('stay exact under concurrent schedule and sweep', async () => {
      const round = async (n: number) => {
        await schedule(scheduled(`x${n}`), toUrl(`y${n}`), scheduled(`z${n}`), scheduled('same'));
        await show(`x${n}`);
        deliveries.begun(`x${n}` as DeliveryId);
        await deliveries.sweep();
      };
      await Promise.all(Array.from({ length: 20 }, (_, n) => round(n)));
      expect(await counted()).to.deep.equal([
        ['', 'payment.created', 20],
        ['endpoint', 'charge.paid', 21],
      ]);
    });
  });

  describe('the read model of deliveries', () => {
    const beginning: LoggedEvent = {
      category: 'webhookDelivery',
      stream: WEBHOOK_DELIVERY.stream('a' as DeliveryId),
      subject: 'a',
      id: 'event',
      revision: 0,
      position: '1' as LoggedEvent['position'],
      recordedAt: at('13:00:01'),
      event: {
        type: 'WebhookDeliverySucceeded',
        data: {
          number: 1,
          at: at('13:00:01'),
          statusCode: 200,
          durationMs: 3,
          delivery: { ...scheduled('a').delivery, form: 1 },
        },
      },
      account: ACCOUNT_ID,
      mode: 'live',
      correlationId: 'p',
    };
    const project = (schema: string, rolledBack = false) =>
      pool.transaction(async (tx) => {
        await webhookDeliveriesProjection.writer(schema).apply([beginning], tx);
        if (rolledBack) throw new Error('killed');
      });

    it('removes scheduled deliveries in the batch that shows them, but not if the batch is rolled back', async () => {
      await schedule(scheduled('a'), scheduled('b'));
      await project(liveSchema(webhookDeliveriesProjection.name), true).catch(() => undefined);
      expect(await written()).to.deep.equal(['a', 'b']);
      await project(liveSchema(webhookDeliveriesProjection.name));
      expect(await written()).to.deep.equal(['b']);
    });
    it('removes nothing while a copy of it is being built', async () => {
      const copy = nextSchema(webhookDeliveriesProjection.name);
      await pool.transaction((tx) => createSchema(tx, webhookDeliveriesProjection, copy));
      await schedule(scheduled('a'));
      await project(copy);
      expect(await written()).to.deep.equal(['a']);
    });
    it('lets a sweep remove deliveries that were stored again afterwards', async () => {
      await project(liveSchema(webhookDeliveriesProjection.name));
      await schedule(scheduled('a'));
      deliveries.begun('a' as DeliveryId);
      await deliveries.sweep();
      expect(await written()).to.deep.equal([]);
    });
  });
});
