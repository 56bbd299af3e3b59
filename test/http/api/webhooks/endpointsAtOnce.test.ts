// One process changes an endpoint while another one delivers: deliveries follow each change from its response on (rules W3, W6).
import { expect } from 'chai';
import { Receivers } from '../../../world/deliveryFacts.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';
import { type Body, type Endpoint, Merchant } from '../../../world/merchant.ts';
import type { TestDatabase } from '../../../world/postgres.ts';
import { type Receiver, typeOf } from '../../../world/receiver.ts';

describe('a webhook endpoint that another process changes', () => {
  let database: TestDatabase;
  let works: TestGateway;
  let serves: TestGateway;
  let merchant: Merchant;
  let receiver: Receiver;
  let endpoint: Endpoint;
  const receivers = new Receivers();
  before(async () => {
    database = await startedDatabase();
    works = await openReady({ database, isAlone: false });
    serves = await openReady({ database, isAlone: false, roles: { serves: true, projects: false, works: false } });
  });
  after(async () => {
    for (const gateway of [serves, works]) {
      expect(gateway.faults).to.deep.equal([]);
      await gateway.close();
    }
    await database.drop();
  });
  beforeEach(async () => {
    merchant = await Merchant.open(serves);
    receiver = await receivers.open();
    endpoint = await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await merchant.flush();
    receiver.got.splice(0);
  });
  afterEach(() => receivers.close());
  const patch = async (body: Body) => {
    const { status } = await serves.call('PATCH', `/v1/webhooks/endpoints/${endpoint.id}`, { body, key: merchant.key });
    expect(status).to.equal(200);
  };

  it('receives only the new events after the response', async () => {
    for (const type of ['payment.created', 'charge.created', 'payment.created', 'charge.created']) {
      await patch({ events: [type] });
      await merchant.charge();
      await merchant.flush();
      expect(receiver.got.splice(0).map(typeOf)).to.deep.equal([type]);
    }
  });
  it('is reached only at the new URL after the response', async () => {
    for (const path of ['a', 'b', 'c']) {
      await patch({ url: `${receiver.url}/${path}` });
      await merchant.charge();
      await merchant.flush();
      expect(receiver.got.splice(0).map((hit) => hit.path)).to.deep.equal([`/hook/${path}`]);
    }
  });
  it('receives nothing after it became inactive, and new events after it became active', async () => {
    for (let n = 0; n < 3; n++) {
      await patch({ status: 'INACTIVE' });
      await merchant.charge();
      await merchant.flush();
      expect(receiver.got).to.deep.equal([]);
      await patch({ status: 'ACTIVE' });
      await merchant.charge();
      await merchant.flush();
      expect(receiver.got.splice(0).map(typeOf)).to.deep.equal(['charge.created']);
    }
  });
});
