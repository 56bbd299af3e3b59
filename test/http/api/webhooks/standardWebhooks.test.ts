// Merchants with a Standard Webhooks library need no code of ours: the official library verifies every delivery (rule W1).
import { expect } from 'chai';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { answering, deliveryIdOf } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import type { Merchant } from '../../../world/merchant.ts';
import { type Hit, typeOf } from '../../../world/receiver.ts';

const CREATED = ['charge.created', 'payment.created'];
const PAID = ['charge.paid', 'payment.completed', 'payment.status_changed'];

/** Verifies with the library, which takes the text of the secret in base64 or raw. Returns the event. Throws if the hit is not genuine. */
const verified = (hit: Pick<Hit, 'headers' | 'rawBody'>, secret: string): unknown => {
  const headers = hit.headers as Record<string, string>;
  const event = new Webhook(Buffer.from(secret).toString('base64')).verify(hit.rawBody, headers);
  expect(new Webhook(secret, { format: 'raw' }).verify(hit.rawBody, headers)).to.deep.equal(event);
  return event;
};

describe('the official Standard Webhooks library', () => {
  let gateway: TestGateway;
  let merchant: Merchant;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  const expectVerified = (hits: readonly Hit[], secret: string, types: readonly string[]): void => {
    expect(hits.map(typeOf)).to.have.members(types);
    for (const hit of hits) expect(verified(hit, secret), typeOf(hit)).to.deep.equal(hit.body);
  };
  const expectRefused = (hit: Pick<Hit, 'headers' | 'rawBody'>, secret: string): void =>
    void expect(() => verified(hit, secret)).to.throw(WebhookVerificationError);

  it('verifies deliveries of both families and rejects any change', async () => {
    const receiver = await receivers.open();
    const { secret } = await merchant.register(receiver.url);
    const { id } = await merchant.charge({ metadata: { note: 'ação “ü” 🙂' } });
    await merchant.pay(id);
    await merchant.flush();
    expectVerified(receiver.got, secret, [...CREATED, ...PAID]);
    for (const hit of receiver.got) {
      expectRefused(hit, 'f'.repeat(64));
      expectRefused({ ...hit, rawBody: `${hit.rawBody} ` }, secret);
      expectRefused({ ...hit, headers: { ...hit.headers, 'webhook-id': 'evt_another' } }, secret);
      for (const seconds of [-301, 301]) {
        const time = String(Number(hit.headers['webhook-timestamp']) + seconds);
        expectRefused({ ...hit, headers: { ...hit.headers, 'webhook-timestamp': time } }, secret);
      }
    }
  });

  it('verifies retries and first attempts, each signed at its own time', async () => {
    const receiver = await receivers.open(answering((_hit, n) => (n <= 2 ? 500 : 200)));
    const { secret } = await merchant.register(receiver.url);
    await merchant.charge();
    await merchant.flush();
    await merchant.advance(10);
    expectVerified(receiver.got, secret, [...CREATED, ...CREATED]);
    for (const type of CREATED) {
      const [first, second] = receiver.got.filter((hit) => typeOf(hit) === type) as [Hit, Hit];
      expect(second.headers['webhook-id']).to.equal(first.headers['webhook-id']);
      expect(deliveryIdOf(second)).to.equal(deliveryIdOf(first));
    }
  });

  it('verifies a resend', async () => {
    const receiver = await receivers.open();
    const { secret } = await merchant.register(receiver.url);
    const { id } = await merchant.charge();
    await merchant.pay(id);
    await merchant.flush();
    const before = receiver.got.length;
    const { body } = await gateway.post(`/v1/payments/${rawIdOf(id)}/resend-webhook`, {}, merchant);
    expect(body['resent']).to.equal(true);
    await merchant.flush();
    expectVerified(receiver.got.slice(before), secret, ['charge.paid', 'payment.completed']);
  });

  it('verifies messages to a payment’s own URL with the override secret only', async () => {
    const [usual, own] = [await receivers.open(), await receivers.open()];
    const endpoint = await merchant.register(usual.url);
    const rotate = async () =>
      (await gateway.post<{ secret: string }>('/v1/webhooks/override-secret/rotate', {}, merchant)).body.secret;
    const old = await rotate();
    const secret = await rotate();
    const order = { amount: 1_000, paymentMethods: ['PIX'], webhookUrl: own.url, idempotencyKey: newKey() };
    const { body } = await gateway.post('/v1/payments', order, merchant);
    await merchant.pay(`ch_${body['id']}`);
    await merchant.flush();
    expectVerified(own.got, secret, [...CREATED, ...PAID]);
    for (const hit of own.got) for (const other of [old, endpoint.secret]) expectRefused(hit, other);
    expect(usual.got).to.deep.equal([]);
  });
});
