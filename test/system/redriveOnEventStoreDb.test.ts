// With the log in EventStoreDB (the test server), re-drives send each failed delivery once, even if requested twice (rule W8).

import { expect } from 'chai';
import type { DeliveryId } from '../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { ALL_RETRIES_SECONDS, answering, deliveryIdOf } from '../world/deliveryFacts.ts';
import type { TestGateway } from '../world/gateway.ts';
import { openReady, rawIdOf } from '../world/http.ts';
import { Merchant } from '../world/merchant.ts';
import { Receiver } from '../world/receiver.ts';

const COUNT = 4;

describe('a re-drive with the log in EventStoreDB', () => {
  let server: EventStoreDbServer;
  let gateway: TestGateway;
  let receiver: Receiver;
  let isWell = false;
  before(async () => {
    server = await EventStoreDbServer.start();
    gateway = await openReady({ eventStoreUrl: server.connectionString });
    receiver = await Receiver.open(answering(() => (isWell ? 200 : 500)));
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
    await server.stop();
  });

  it('sends each delivery once if requested twice at the same time', async () => {
    const merchant = await Merchant.open(gateway);
    await merchant.register(receiver.url, ['charge.created']);
    for (let n = 0; n < COUNT; n++) await merchant.charge();
    await merchant.flushed();
    await merchant.advance(ALL_RETRIES_SECONDS);
    expect((await merchant.deliveries('?status=FAILED')).total).to.equal(COUNT);
    isWell = true;
    const tried = receiver.got.length;
    const redrive = async () => {
      const { status } = await gateway.post('/v1/webhooks/deliveries/redrive', { status: 'FAILED' }, merchant);
      expect(status).to.equal(202);
    };
    await Promise.all([redrive(), redrive()]);
    const all = await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'DELIVERED'));
    await merchant.flush();
    expect(receiver.got.slice(tried).map(deliveryIdOf).toSorted()).to.deep.equal(all.map(({ id }) => id).toSorted());
    for (const { id } of all) {
      const types: string[] = [];
      const stream = WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId);
      for await (const { type } of gateway.storage.store.readStream(stream)) types.push(type);
      expect(types.filter((type) => type === 'WebhookDeliveryRetryRequested')).to.have.lengthOf(1);
    }
  });
});
