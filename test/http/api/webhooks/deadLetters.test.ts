// Messages that failed all 15 attempts, by the test clock: the dead-letter queue, and how they are sent again (rules W3, W8).
import { expect } from 'chai';
import { runWordsIn } from '../../../support/cli.ts';
import {
  ALL_RETRIES_SECONDS,
  answering,
  deliveryIdOf,
  expectSchedule,
  MAX_ATTEMPTS,
} from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import type { Body, Delivery, Merchant } from '../../../world/merchant.ts';

describe('a message that no endpoint accepts', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });

  const queue = async () => {
    const env = { API_KEY: merchant.key, PUBLIC_URL: gateway.baseUrl };
    const { code, err, json } = await runWordsIn<{ deliveries: Delivery[]; total: number }>(
      env,
      ...['dlq', 'list', '--json'],
    );
    expect([code, err]).to.deep.equal([0, '']);
    return json;
  };

  it('is given up after 15 attempts, and arrives once it is resent', async () => {
    let isWell = false;
    const receiver = await receivers.open(answering(() => (isWell ? 200 : 500)));
    await merchant.register(receiver.url, ['charge.paid']);
    const charges = [await merchant.charge(), await merchant.charge()];
    for (const { id } of charges) await merchant.pay(id);
    await merchant.flush();
    expect(await queue()).to.deep.equal({ deliveries: [], total: 0 });

    await merchant.advance(ALL_RETRIES_SECONDS);
    const failed = await merchant.deliveries('?status=FAILED');
    expect(failed.total).to.equal(charges.length);
    for (const delivery of failed.data) {
      const last = (await expectSchedule(gateway, delivery, MAX_ATTEMPTS)).at(-1)!;
      expect(last.nextAttemptAt).to.equal(null);
      expect(delivery).to.include({ status: 'FAILED', attempts: MAX_ATTEMPTS, nextRetryAt: null, deliveredAt: null });
      expect(delivery).to.include({ lastStatusCode: 500, lastError: 'status: 500', updatedAt: last.at });
    }
    const tried = receiver.got.slice();
    expect(new Set(tried.map(deliveryIdOf))).to.deep.equal(new Set(failed.data.map(({ id }) => id)));
    expect(tried.length).to.equal(charges.length * MAX_ATTEMPTS);
    expect(await queue()).to.deep.equal({ deliveries: failed.data, total: charges.length });

    isWell = true;
    await merchant.advance(ALL_RETRIES_SECONDS);
    expect([receiver.got.length, await merchant.deliveries('?status=FAILED')]).to.deep.equal([tried.length, failed]);

    for (const { id } of charges) {
      const reply = await gateway.post<Body>(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, merchant);
      expect([reply.status, reply.body['resent']], reply.text).to.deep.equal([200, true]);
    }
    await merchant.flush();
    const again = receiver.got.slice(tried.length);
    const ofEvent = (hits: typeof again) => new Map(hits.map((hit) => [hit.headers['webhook-id'], hit.rawBody]));
    expect(again.length).to.equal(charges.length);
    expect(ofEvent(again)).to.deep.equal(ofEvent(tried));
    const { data: delivered, total } = await merchant.deliveries('?status=DELIVERED');
    expect([total, delivered.map(({ attempts }) => attempts)]).to.deep.equal([2, [1, 1]]);
    expect(new Set(delivered.map(({ id }) => id))).to.deep.equal(new Set(again.map(deliveryIdOf)));
  });
});
