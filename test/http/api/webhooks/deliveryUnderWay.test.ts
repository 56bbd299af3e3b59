// Deliveries whose attempt has begun are PROCESSING, in pages and totals alike (contract.md Webhook delivery status).
import { expect } from 'chai';
import { deliveryIdOf, gate } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { Merchant } from '../../../world/merchant.ts';
import type { StoppableClock } from '../../../world/stoppableClock.ts';

describe('deliveries under way', () => {
  let merchant: Merchant;
  let clock: StoppableClock;
  const receivers = deliveryScene((_, own, stoppable) => {
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
});
