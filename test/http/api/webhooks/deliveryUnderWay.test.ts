// Deliveries whose attempt has begun are PROCESSING, in pages and totals alike (contract.md Webhook delivery status). Those that wait for
// other attempts follow a change of their endpoint.
import { expect } from 'chai';
import { attemptsAsked, deliveryIdOf, expectSigned, gate, requestsOutdated } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import type { Body, Endpoint, Merchant } from '../../../world/merchant.ts';
import type { Receiver } from '../../../world/receiver.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

describe('deliveries under way', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  let clock: StoppableClock;
  const receivers = deliveryScene((opened, own, stoppable) => {
    gateway = opened;
    merchant = own;
    clock = stoppable;
  });
  const totals = async (): Promise<Record<string, number>> => {
    const counted: Record<string, number> = {};
    for (const status of ['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED']) {
      const { data, total } = await merchant.deliveries(`?status=${status}`);
      expect(data.map((one) => one.status)).to.deep.equal(Array(total).fill(status));
      if (total > 0) counted[status] = total;
    }
    return counted;
  };

  for (const [answer, after] of [
    [200, 'DELIVERED'],
    [500, 'PENDING'],
  ] as const)
    it(`are PROCESSING without a next attempt until they are answered, then ${after}`, async () => {
      const { script, open } = gate(answer);
      const receiver = await receivers.open(script);
      await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      const hit = await receiver.until(() => true);
      const delivery = await merchant.delivery();
      expect(delivery).to.include({ id: deliveryIdOf(hit), status: 'PROCESSING', attempts: 0, nextRetryAt: null });
      expect(await totals()).to.deep.equal({ PROCESSING: 1 });
      expect(await merchant.delivery('?status=PROCESSING')).to.deep.equal(delivery);
      open();
      await merchant.flush();
      expect(await merchant.delivery()).to.include({ status: after, attempts: 1 });
      expect(await totals()).to.deep.equal({ [after]: 1 });
    });

  it('have their own status beside ended ones of the same job', async () => {
    const { script, open } = gate();
    const receiver = await receivers.open((hit, res, n) => {
      if (n % 3 === 0) script(hit, res, n);
      else res.writeHead(n % 3 === 1 ? 200 : 500).end();
    });
    for (const path of ['a', 'b', 'c']) await merchant.register(`${receiver.url}/${path}`, ['charge.created']);
    await merchant.charge();
    await merchant.untilDeliveries((all) => all.filter(({ attempts }) => attempts === 1).length === 2);
    expect(await totals()).to.deep.equal({ PENDING: 1, PROCESSING: 1, DELIVERED: 1 });
    open();
    await merchant.flush();
    expect(await totals()).to.deep.equal({ PENDING: 1, DELIVERED: 2 });
  });

  for (const [how, fallDue] of [
    ['in real time', async () => clock.pass(6_000)],
    ['while the clock is advanced', () => merchant.advance(10)],
  ] as const)
    it(`are PROCESSING during a retry ${how}`, async () => {
      clock.stop();
      const { script, open } = gate(500);
      const receiver = await receivers.open((hit, res, n) =>
        n === 1 ? void res.writeHead(500).end() : script(hit, res, n),
      );
      await merchant.register(receiver.url, ['charge.created']);
      await merchant.charge();
      await merchant.flush();
      const due = fallDue();
      await receiver.until((hit) => hit !== receiver.got[0]);
      expect(await merchant.delivery()).to.include({ status: 'PROCESSING', attempts: 1, nextRetryAt: null });
      open();
      await due;
      await merchant.flush();
      expect(await merchant.delivery()).to.include({ status: 'PENDING', attempts: 2 });
    });

  describe('that wait for other attempts to end', () => {
    /** Resolves when deliveries to all endpoints wait behind 16 attempts at the same origin. */
    const waiting = async (receiver: Receiver): Promise<readonly Endpoint[]> => {
      const all = attemptsAsked(gateway, 32);
      const endpoints: Endpoint[] = [];
      for (let n = 0; n < 16; n++) endpoints.push(await merchant.register(`${receiver.url}/${n}`, ['charge.created']));
      await merchant.charge();
      await receiver.until(() => receiver.got.length === 16);
      await merchant.charge();
      await all;
      return endpoints;
    };
    const patch = async ({ id }: Endpoint, body: Body) => {
      const { status, text } = await gateway.call('PATCH', `/v1/webhooks/endpoints/${id}`, { body, key: merchant.key });
      expect(status, text).to.equal(200);
    };

    it('are signed with the new secret, go to the new URL, or wait or are cancelled with their endpoint', async () => {
      const { script, open } = gate();
      const receiver = await receivers.open(script);
      const [rotated, moved, paused, deleted] = (await waiting(receiver)) as [Endpoint, Endpoint, Endpoint, Endpoint];
      expect(receiver.got.splice(0)).to.have.length(16);
      const path = `/v1/webhooks/endpoints/${rotated.id}/rotate-secret`;
      const { secret } = (await gateway.post<Endpoint>(path, {}, merchant)).body;
      await patch(moved, { url: `${receiver.url}/moved` });
      await patch(paused, { status: 'INACTIVE' });
      await merchant.delete(deleted);
      await requestsOutdated(gateway);
      open();
      await merchant.flush();
      const paths = ['0', 'moved', ...Array.from({ length: 12 }, (_, n) => `${n + 4}`)].map((end) => `/hook/${end}`);
      expect(receiver.got.map((hit) => hit.path)).to.have.members(paths);
      expectSigned(receiver.got.find((hit) => hit.path === '/hook/0')!, secret, 'canonical');
      const total = async (status: string) => (await merchant.deliveries(`?status=${status}`)).total;
      expect(await Promise.all(['PENDING', 'DELIVERED', 'CANCELLED'].map(total))).to.deep.equal([1, 30, 1]);
    });
  });
});
