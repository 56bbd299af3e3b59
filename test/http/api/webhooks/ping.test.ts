// A ping: one signed request that is neither an event nor a delivery and does not affect the endpoint’s health.
import { expect } from 'chai';
import { verifyWebhook } from '../../../../docs/receivers/verifyWebhook.mjs';
import { answering, attemptsAsked, expectSigned, gate, requestsOutdated } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { expectError } from '../../../world/http.ts';
import type { Body, Endpoint, Merchant } from '../../../world/merchant.ts';
import type { Hit } from '../../../world/receiver.ts';

interface Outcome {
  readonly delivered: boolean;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

describe('a ping', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  const ping = ({ id }: Pick<Endpoint, 'id'>, key = merchant.key) =>
    gateway.call<Outcome>('POST', `/v1/webhooks/endpoints/${id}/ping`, { key });
  const outcome = async (endpoint: Endpoint) => {
    const { status, body } = await ping(endpoint);
    const { durationMs, ...rest } = body;
    expect([status, Object.keys(body)]).to.deep.equal([200, ['delivered', 'statusCode', 'error', 'durationMs']]);
    expect(durationMs).to.be.a('number').and.at.least(0);
    return rest;
  };
  const patch = (endpoint: Endpoint, body: Body) =>
    gateway.call('PATCH', `/v1/webhooks/endpoints/${endpoint.id}`, { body, key: merchant.key });
  const health = async () =>
    (await merchant.get<{ data: { health: object }[] }>('/v1/webhooks/endpoints')).body.data[0]?.health;

  it('is signed like an event, in its own envelope', async () => {
    const receiver = await receivers.open();
    const endpoint = await merchant.register(receiver.url, ['charge.paid']);
    expect(await outcome(endpoint)).to.deep.equal({ delivered: true, statusCode: 200, error: null });
    const [hit] = receiver.got as [Hit];
    expectSigned(hit, endpoint.secret, 'canonical');
    expect(hit.headers['x-acme-event-type']).to.equal('ping');
    expect(hit.headers).to.not.have.property('x-acme-delivery-id');
    const { id, created_at: createdAt, ...rest } = hit.body;
    expect(id)
      .to.match(/^ping_[0-9a-hjkmnp-tv-z]{26}$/)
      .and.equal(hit.headers['webhook-id']);
    expect(Math.abs(Date.parse(createdAt as string) - Date.now())).to.be.below(60_000);
    expect(rest).to.deep.equal({
      object: 'ping',
      api_version: '2026-11-01',
      type: 'ping',
      data: { object: { id: endpoint.id, object: 'webhook_endpoint' } },
    });
    const verified = verifyWebhook(endpoint.secret, hit.headers, hit.rawBody);
    expect([verified.id, verified.type]).to.deep.equal([id, 'ping']);
    await ping(endpoint);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).to.equal(2);
  });
  it('that waits for 16 others is signed with the new secret, or not sent if its endpoint was deleted', async () => {
    const { script, open } = gate();
    const receiver = await receivers.open(script);
    const rotated = await merchant.register(receiver.url);
    const deleted = await merchant.register(`${receiver.url}/deleted`);
    const others = Array.from({ length: 16 }, () => ping(rotated));
    await receiver.until(() => receiver.got.length === 16);
    const asked = attemptsAsked(gateway, 2);
    const waiting = [ping(rotated), ping(deleted)];
    await asked;
    const { secret } = (
      await gateway.post<Endpoint>(`/v1/webhooks/endpoints/${rotated.id}/rotate-secret`, {}, merchant)
    ).body;
    await merchant.delete(deleted);
    await requestsOutdated(gateway);
    open();
    expect((await Promise.all([...others, ...waiting])).map(({ status }) => status)).to.deep.equal([
      ...Array(17).fill(200),
      404,
    ]);
    expect(receiver.got).to.have.length(17);
    expectSigned(receiver.got[16] as Hit, secret, 'canonical');
  });
  it('returns the status, or the reason why there was none', async () => {
    const receiver = await receivers.open(answering((_hit, n) => [500, 302, 204][n - 1] ?? 200));
    const endpoint = await merchant.register(receiver.url);
    expect(await outcome(endpoint)).to.deep.include({ delivered: false, statusCode: 500 });
    const redirected = await outcome(endpoint);
    expect([redirected.delivered, redirected.statusCode, redirected.error?.split(':')[0]]).to.deep.equal([
      false,
      302,
      'redirect',
    ]);
    expect(await outcome(endpoint)).to.deep.equal({ delivered: true, statusCode: 204, error: null });
    await patch(endpoint, { url: 'http://127.0.0.1:1024/' });
    const refused = await outcome(endpoint);
    expect([refused.delivered, refused.statusCode, refused.error?.split(':')[0]]).to.deep.equal([
      false,
      null,
      'connection',
    ]);
  });
  it('is never sent to a forbidden address', async () => {
    const { body: endpoint } = await gateway.post<Endpoint>(
      '/v1/webhooks/endpoints',
      { url: 'https://localhost:8443/hook', events: ['*'] },
      { key: merchant.tenant.liveKey },
    );
    const { status, body } = await ping(endpoint, merchant.tenant.liveKey);
    expect([status, body.delivered, body.error?.split(':')[0]]).to.deep.equal([200, false, 'blocked']);
  });
  it('appears in no list of deliveries and does not affect the endpoint’s health', async () => {
    const receiver = await receivers.open(answering(() => 500));
    const endpoint = await merchant.register(receiver.url, ['charge.created']);
    for (let n = 0; n < 4; n++) expect((await outcome(endpoint)).delivered).to.equal(false);
    expect((await merchant.deliveries()).total).to.equal(0);
    expect(await health()).to.deep.equal({ state: 'healthy', failingSince: null, lastError: null, waiting: 0 });
    await merchant.charge();
    await merchant.flush(); // not held back
    expect([receiver.got.length, (await merchant.delivery()).attempts]).to.deep.equal([5, 1]);
  });
  it('that succeeds does not make a failing endpoint healthy', async () => {
    const receiver = await receivers.open(answering(({ body }) => (body['type'] === 'ping' ? 200 : 500)));
    const endpoint = await merchant.register(receiver.url, ['charge.created']);
    for (let n = 0; n < 3; n++) {
      await merchant.charge();
      await merchant.flush();
    }
    await merchant.charge();
    await merchant.flush(1);
    expect((await outcome(endpoint)).delivered).to.equal(true);
    expect(await health()).to.include({ state: 'failing', lastError: 'status: 500', waiting: 1 });
  });
  it('reaches an inactive endpoint', async () => {
    const receiver = await receivers.open();
    const endpoint = await merchant.register(receiver.url);
    await patch(endpoint, { status: 'INACTIVE' });
    expect((await outcome(endpoint)).delivered).to.equal(true);
  });
  it('returns 404 for endpoints of another account or mode, deleted or unknown, and sends nothing', async () => {
    const receiver = await receivers.open();
    const endpoint = await merchant.register(receiver.url);
    const stranger = await gateway.newTenant();
    for (const key of [stranger.testKey, merchant.tenant.liveKey])
      expectError(await ping(endpoint, key), 404, 'not_found');
    expectError(await ping({ id: `we_${'0'.repeat(26)}` }), 404, 'not_found');
    await merchant.delete(endpoint);
    expectError(await ping(endpoint), 404, 'not_found');
    expect(receiver.got).to.deep.equal([]);
  });
});
