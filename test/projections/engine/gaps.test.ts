// A read model that folds a stream must not continue past a missing event, unless the whole stream was deleted.

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { EventStore } from '../../../application/ports/eventStore.ts';
import type { DeliveryId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { WEBHOOK_DELIVERY, type WebhookDeliveryEvent } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { readParked } from '../../../projections/engine/parkedStreams.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import { paymentsProjection } from '../../../projections/payments/projection.ts';
import { webhookDeliveriesProjection } from '../../../projections/webhooks/projection.ts';
import { loseFacts } from '../../support/lostFacts.ts';
import { ACCOUNT_ID, CREATED_AT, PAYMENT_ID } from '../../support/samples.ts';
import { Followed, newPaymentId, Scene } from './scene.ts';

describe('a gap in a stream', () => {
  let scene: Scene;
  let followed: Followed | null = null;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(async () => {
    await followed?.stop();
    await scene.close();
  });

  /** Follows the log into tables of its own, with a store whose cache is empty. */
  const followInto = async (original: Projection, seen: (store: EventStore) => EventStore = (store) => store) => {
    const projection = { ...original, name: 'gap' };
    await scene.log.sql.query(`CREATE SCHEMA rm_gap; ${projection.ddl('rm_gap')}`);
    const writer = projection.writer('rm_gap');
    const { name, categories } = projection;
    const consumer = { name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
    const store = seen(await scene.log.connect());
    followed = new Followed(scene, { retryDelayMsMax: 200, consumers: [consumer], store });
    await followed.caughtUp();
  };
  const parked = async () =>
    (await readParked(scene.log.sql, null)).map(
      ({ consumer, stream, revision }) => `${consumer} ${stream}@${revision}`,
    );

  it('parks the stream at the event after the gap', async () => {
    const stream = PAYMENT.stream(await scene.appendPayment());
    await scene.appendPayment();
    await scene.appendPayment();
    await loseFacts(scene.log.sql, 'DELETE FROM event_store.events WHERE stream = $1 AND revision = 1', [stream]);
    await followInto(paymentsProjection);
    expect(await parked()).to.deep.equal([`gap ${stream}@2`]);
    expect((await readParked(scene.log.sql, null)).map(({ error }) => error)).to.deep.equal([
      `RevisionGap: ${stream}: event 2 after event 0`,
    ]);
    const { rows } = await scene.log.sql.query('SELECT revision FROM rm_gap.payments ORDER BY revision');
    expect(rows).to.deep.equal([{ revision: 0 }, { revision: 2 }, { revision: 2 }]);
  });

  const delivery = {
    stream: PAYMENT.stream(PAYMENT_ID),
    revision: 1,
    paymentId: PAYMENT_ID,
    eventType: 'charge.paid',
    endpointId: null,
    resend: 0,
    scheduledAt: CREATED_AT,
    form: 1,
  };
  const asked = (isFirst: boolean): WebhookDeliveryEvent => ({
    type: 'WebhookDeliveryRetryRequested',
    data: { target: 'x', isProbe: true, at: CREATED_AT, delivery: isFirst ? delivery : null },
  });
  const appendDelivery = async () => {
    const stream = WEBHOOK_DELIVERY.stream(newPaymentId() as string as DeliveryId);
    const metadata = {
      account: ACCOUNT_ID,
      mode: 'test',
      actor: 'operator:test',
      requestId: null,
      correlationId: 'x',
      causationId: 'x',
    } as const;
    const events = [asked(true), asked(false), asked(false)];
    const append = {
      serde: WEBHOOK_DELIVERY.serde,
      stream,
      after: -1,
      events,
      commandId: randomUUID(),
      metadata,
    } as const;
    expect((await scene.store.append(stream, -1, await scene.codec.encode(append))).ok).to.equal(true);
    return stream;
  };
  const rows = async () =>
    (await scene.log.sql.query('SELECT id, revision FROM rm_gap.deliveries ORDER BY revision')).rows;

  it('parks the stream of a delivery that still exists', async () => {
    const stream = await appendDelivery();
    await loseFacts(scene.log.sql, 'DELETE FROM event_store.events WHERE stream = $1 AND revision = 1', [stream]);
    await followInto(webhookDeliveriesProjection);
    expect(await parked()).to.deep.equal([`gap ${stream}@2`]);
  });

  it('is ignored if the delivery was deleted, and all other events are taken', async () => {
    const gone = await appendDelivery();
    const kept = await appendDelivery();
    // A slow consumer: it read the first event of the delivery, and reads the rest after the deletion.
    await followInto(webhookDeliveriesProjection, (store) => ({
      ...store,
      async *subscribe(options) {
        for await (const batch of store.subscribe(options)) {
          if (batch.kind !== 'events') yield batch;
          else yield { ...batch, events: batch.events.filter((one) => one.stream !== gone || one.revision > 0) };
        }
      },
      async *readStream(stream, options) {
        if (stream !== gone) yield* store.readStream(stream, options);
      },
    }));
    expect(await parked()).to.deep.equal([]);
    expect(followed?.faults).to.deep.equal([]);
    expect(await rows()).to.deep.equal([{ id: kept.slice('webhookDelivery-'.length), revision: 2 }]);
  });
});
