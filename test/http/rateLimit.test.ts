// Requests a minute for each key (decisions E8).
import { expect } from 'chai';
import type { Reply, TestGateway } from '../support/gateway.ts';
import { expectError, openReady } from './support.ts';

const PER_MINUTE = 5;
const limits = ({ headers }: Reply<unknown>) => [
  headers.get('x-ratelimit-limit-minute'),
  headers.get('x-ratelimit-remaining-minute'),
];

describe('rate limit', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await openReady({ perMinute: PER_MINUTE });
  });
  afterEach(() => gateway.close());

  it('counts down on every authenticated answer, then is 429 with Retry-After, and nothing is done', async () => {
    for (let left = PER_MINUTE - 1; left >= 0; left--) {
      const reply = left % 2 === 0 ? await gateway.get('/v1/charges/none') : await gateway.get('/v1/wallets');
      expect(limits(reply)).to.deep.equal(['5', String(left)]);
    }
    const head = await gateway.storage.store.head();
    for (const reply of [await gateway.charge(), await gateway.charge({ amount: 0 })]) {
      expectError(reply, 429, 'rate_limited');
      expect(limits(reply)).to.deep.equal(['5', '0']);
      expect(Number(reply.headers.get('retry-after'))).to.be.within(1, 60);
    }
    expect(await gateway.storage.store.head()).to.equal(head);
  });
  it('is each key’s own, and no concern of those without one', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => gateway.get('/v1/wallets')));
    expect(all.filter(({ status }) => status === 200).length).to.equal(PER_MINUTE);
    expect(all.filter(({ status }) => status === 429).length).to.equal(20 - PER_MINUTE);
    const live = await gateway.get('/v1/wallets', { key: gateway.tenant.liveKey });
    expect([live.status, ...limits(live)]).to.deep.equal([200, '5', '4']);
    for (let i = 0; i < 10; i++) {
      expect((await gateway.get('/v1/webhooks/event-catalog')).status).to.equal(200);
      const stranger = await gateway.get('/v1/wallets', { key: null });
      expectError(stranger, 401, 'unauthorized');
      expect(limits(stranger)).to.deep.equal([null, null]);
    }
  });
});
