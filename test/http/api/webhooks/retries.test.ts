// Deliveries retried on request, singly and in bulk (rules W3, W8).

import { expect } from 'chai';
import type { DeliveryId } from '../../../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import { ALL_RETRIES_SECONDS, answering, deliveryIdOf, gate, secondsFrom } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import { type Body, type Delivery, type Endpoint, Merchant } from '../../../world/merchant.ts';
import { ORDERS, PaymentDesk } from '../../../world/paymentDesk.ts';
import type { Receiver, Script } from '../../../world/receiver.ts';

type Shown = Delivery & { readonly attemptLog: readonly { readonly number: number; readonly error: string | null }[] };

describe('deliveries retried on request', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let isWell: boolean;
  let answer: Script;
  let receiver: Receiver;
  let endpoint: Endpoint;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  beforeEach(async () => {
    isWell = false;
    answer = answering(() => (isWell ? 200 : 500));
    receiver = await receivers.open((...hit) => answer(...hit));
    endpoint = await merchant.register(receiver.url, ['charge.created']);
  });

  const tryRetry = (id: string, who: { readonly key: string } = merchant) =>
    gateway.post<Body>(`/v1/webhooks/deliveries/${id}/retry`, {}, who);
  const retry = async (id: string): Promise<Shown> => {
    const { status, body, text } = await tryRetry(id);
    expect(status, text).to.equal(200);
    return body as unknown as Shown;
  };
  const show = async (id: string) => (await merchant.get<Shown>(`/v1/webhooks/deliveries/${id}`)).body;
  const until = async (id: string, holds: (one: Delivery) => boolean): Promise<Shown> => {
    await merchant.untilDeliveries((all) => all.some((one) => one.id === id && holds(one)));
    return show(id);
  };
  const redrive = async (body: Body = {}, who: { readonly key: string } = merchant) => {
    const path = '/v1/webhooks/deliveries/redrive';
    const { status, body: counts, text } = await gateway.post(path, { status: 'FAILED', ...body }, who);
    expect(status, text).to.equal(202);
    return counts;
  };
  const patch = async (body: Body) => {
    const path = `/v1/webhooks/endpoints/${endpoint.id}`;
    const { status, text } = await gateway.call('PATCH', path, { body, key: merchant.key });
    expect(status, text).to.equal(200);
  };
  /** Creates charges whose single message has failed once. Returns the deliveries. */
  const failing = async (count = 1): Promise<readonly Delivery[]> => {
    for (let n = 0; n < count; n++) {
      await merchant.charge();
      await merchant.flushed();
    }
    return (await merchant.deliveries()).data;
  };
  /** Creates charges whose single message has failed all attempts. Returns the deliveries. */
  const givenUp = async (count = 1): Promise<readonly Delivery[]> => {
    await failing(count);
    await merchant.advance(ALL_RETRIES_SECONDS);
    const { data } = await merchant.deliveries();
    expect(data.map(({ status }) => status)).to.deep.equal(Array(count).fill('FAILED'));
    return data;
  };
  const requestsOf = async (id: string) => {
    const found: { readonly actor: string; readonly isProbe: boolean }[] = [];
    for await (const { type, data, metadata } of gateway.storage.store.readStream(
      WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId),
    ))
      if (type === 'WebhookDeliveryRetryRequested') {
        const { isProbe } = JSON.parse(data) as { isProbe: boolean };
        found.push({ actor: (JSON.parse(metadata) as { actor: string }).actor, isProbe });
      }
    return found;
  };

  describe('singly', () => {
    it('get another 15 attempts after they were given up, with continued numbering', async () => {
      const [{ id, createdAt, payload }] = (await givenUp()) as [Delivery];
      const asked = await retry(id);
      expect(asked).to.deep.include({ id, status: 'PENDING', attempts: 15, maxAttempts: 30, createdAt, payload });
      const failed = await until(id, ({ attempts }) => attempts === 16);
      expect(failed).to.include({ status: 'PENDING', maxAttempts: 30, lastError: 'status: 500' });
      // The delay is that of a first attempt.
      expect(secondsFrom(failed.updatedAt, failed.nextRetryAt!)).to.be.within(4, 6);
      await merchant.advance(ALL_RETRIES_SECONDS);
      expect(await show(id)).to.include({ status: 'FAILED', attempts: 30, maxAttempts: 30 });
      isWell = true;
      expect(await retry(id)).to.include({ status: 'PENDING', attempts: 30, maxAttempts: 45 });
      const taken = await until(id, ({ status }) => status === 'DELIVERED');
      expect(taken.attemptLog.map(({ number }) => number)).to.deep.equal(Array.from({ length: 31 }, (_, n) => n + 1));
      expect(taken.attemptLog.at(-1)?.error).to.equal(null);
      expect(new Set(receiver.got.map(({ rawBody }) => rawBody)).size).to.equal(1);
      expect(new Set(receiver.got.map(deliveryIdOf))).to.deep.equal(new Set([id]));
      expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
      expect(receiver.got.length).to.equal(31);
    });

    it('are sent again after they were delivered, with the same IDs and body, each time', async () => {
      isWell = true;
      const [{ id }] = (await failing()) as [Delivery];
      for (const attempts of [2, 3]) {
        expect(await retry(id)).to.include({ status: 'PENDING', attempts: attempts - 1, deliveredAt: null });
        await until(id, (one) => one.attempts === attempts && one.status === 'DELIVERED');
      }
      expect(
        new Set(receiver.got.map((hit) => [deliveryIdOf(hit), hit.headers['webhook-id'], hit.rawBody].join())).size,
      ).to.equal(1);
      expect(receiver.got.length).to.equal(3);
      expect((await requestsOf(id)).map(({ isProbe }) => isProbe)).to.deep.equal([true, true]);
      expect((await requestsOf(id))[0]?.actor).to.match(/^key:[0-9a-f]{16}$/);
    });

    it('are sent immediately in the same round if they wait for their next attempt', async () => {
      const [{ id }] = (await failing()) as [Delivery];
      await merchant.advance(60); // attempts 2 and 3; the next one is due in 2 minutes
      isWell = true;
      expect(await retry(id)).to.include({ status: 'PENDING', attempts: 3, maxAttempts: 15 });
      expect(await until(id, ({ status }) => status === 'DELIVERED')).to.include({ attempts: 4, maxAttempts: 15 });
    });

    it('are sent once for many concurrent requests', async () => {
      const [{ id }] = (await givenUp()) as [Delivery];
      isWell = true;
      const { script, open } = gate();
      answer = script;
      for (const { status, text } of await Promise.all(Array.from({ length: 8 }, () => tryRetry(id))))
        expect(status, text).to.equal(200);
      await receiver.until((_hit) => receiver.got.length === 16);
      // The attempt is under way, so these requests change nothing.
      for (let n = 0; n < 3; n++) expect((await tryRetry(id)).status).to.equal(200);
      open();
      await until(id, ({ status }) => status === 'DELIVERED');
      await merchant.flush();
      expect([receiver.got.length, (await requestsOf(id)).length]).to.deep.equal([16, 1]);
    });

    it('are probes if the endpoint keeps failing, also before a first attempt; success releases the rest', async () => {
      await failing(3);
      await merchant.charge();
      await merchant.charge();
      await merchant.flush(2);
      const held = (await merchant.deliveries()).data.filter(({ attempts }) => attempts === 0);
      expect(held.length).to.equal(2);
      isWell = true;
      const { id } = held[0]!;
      expect(await retry(id)).to.include({ id, status: 'PENDING', attempts: 0 });
      expect(await until(id, ({ status }) => status === 'DELIVERED')).to.include({ attempts: 1 });
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect([receiver.got.length, await requestsOf(id)].flat()).to.have.lengthOf(2);
    });

    it('go to a payment’s own URL', async () => {
      const order = { ...ORDERS['PIX'], webhookUrl: receiver.url };
      isWell = true;
      await new PaymentDesk(gateway, merchant.tenant).waiting(order);
      await merchant.flush();
      const [{ id }] = (await merchant.deliveries()).data as [Delivery];
      const tried = receiver.got.length;
      await retry(id);
      await until(id, ({ attempts, status }) => attempts === 2 && status === 'DELIVERED');
      expect(deliveryIdOf(receiver.got[tried]!)).to.equal(id);
    });

    it('are rejected if the endpoint is inactive or deleted; once it is active, canceled ones are sent too', async () => {
      const [{ id }] = (await failing()) as [Delivery];
      const refused = async () => {
        const { status, body } = await tryRetry(id);
        return [status, (body['error'] as Body)['code'], (body['error'] as Body)['message']];
      };
      await patch({ status: 'INACTIVE' });
      const inactive = 'The endpoint of the delivery is inactive. Activate it first.';
      expect(await refused()).to.deep.equal([400, 'endpoint_not_active', inactive]);
      await merchant.advance(7 * 86_400);
      expect(await show(id)).to.include({ status: 'CANCELLED' });
      isWell = true;
      await patch({ status: 'ACTIVE' });
      expect(await retry(id)).to.include({ status: 'PENDING', attempts: 1, maxAttempts: 16 });
      await until(id, ({ status }) => status === 'DELIVERED');
      await merchant.delete(endpoint);
      const deleted = 'The endpoint of the delivery was deleted. The delivery can’t be sent again.';
      expect(await refused()).to.deep.equal([400, 'endpoint_not_active', deleted]);
      expect(await requestsOf(id)).to.have.lengthOf(1);
    });

    it('return 404 for unknown IDs and those of another account or mode', async () => {
      const [{ id }] = (await failing()) as [Delivery];
      const other = await Merchant.open(gateway);
      const keys = [other, { key: merchant.tenant.liveKey }];
      for (const who of keys) expect((await tryRetry(id, who)).status).to.equal(404);
      for (const absent of [`wd_${'0'.repeat(26)}`, rawIdOf(id), 'wd_x'])
        expect((await tryRetry(absent)).status).to.equal(404);
      expect(await requestsOf(id)).to.deep.equal([]);
    });
  });

  describe('in bulk', () => {
    it('go after all 15 attempts failed, the first as a probe and the others after its success', async () => {
      await givenUp(4);
      await merchant.charge(); // the probe of this minute, which fails
      await merchant.flushed();
      expect(await redrive({ dryRun: true })).to.deep.equal({ matched: 4, queued: 0 });
      const tried = receiver.got.length;
      expect(await redrive()).to.deep.equal({ matched: 4, queued: 4 });
      await merchant.flushed();
      // The endpoint still fails, so only the probe was sent.
      const [probe, ...others] = (await merchant.deliveries()).data.filter(({ attempts }) => attempts === 16);
      expect([others, new Set(receiver.got.slice(tried).map(deliveryIdOf)).has(probe!.id)]).to.deep.equal([[], true]);
      isWell = true;
      await retry(probe!.id);
      const all = await merchant.untilDeliveries((some) => some.every(({ status }) => status === 'DELIVERED'));
      const rounds = all.filter(({ maxAttempts }) => maxAttempts === 30).map(({ attempts }) => attempts);
      expect([all.length, rounds.toSorted()]).to.deep.equal([5, [16, 16, 16, 17]]);
      expect(await redrive()).to.deep.equal({ matched: 0, queued: 0 });
    });

    it('are sent once each for two concurrent requests', async () => {
      await givenUp(3);
      isWell = true;
      const tried = receiver.got.length;
      await Promise.all([redrive(), redrive()]);
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      await merchant.flush();
      expect(receiver.got.length).to.equal(tried + 3);
    });

    it('are listed oldest first for an operator, who can redrive one account’s once', async () => {
      await givenUp(3);
      const headers = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
      const accountId = `acct_${merchant.tenant.accountId}`;
      const list = async (rest = '') => {
        const path = `/ops/v1/dlq?accountId=${accountId}${rest}`;
        const { status, body, text } = await gateway.call<{ data: Body[]; total: number }>('GET', path, {
          key: null,
          headers,
        });
        expect(status, text).to.equal(200);
        return body;
      };
      const send = (body: Body) =>
        gateway.call<Body>('POST', '/ops/v1/dlq/redrive', { key: null, headers, body: { accountId, ...body } });
      const oldestFirst = (await merchant.deliveries()).data.toReversed();
      const { data, total } = await list();
      expect([data.map(({ id }) => id), total]).to.deep.equal([oldestFirst.map(({ id }) => id), 3]);
      const { id, createdAt } = oldestFirst[0]!;
      const { paymentId } = data[0]!;
      const shown = { id, accountId, mode: 'test', paymentId, eventType: 'charge.created', createdAt };
      expect(await list('&limit=1')).to.deep.equal({ data: [{ ...shown, endpointId: endpoint.id }], total: 3 });
      expect((await send({ dryRun: true })).body).to.deep.equal({ matched: 3, queued: 0 });
      isWell = true;
      expect((await send({})).body).to.deep.equal({ matched: 3, queued: 3 });
      await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
      expect(await list()).to.deep.equal({ data: [], total: 0 });
      expect((await send({})).body).to.deep.equal({ matched: 0, queued: 0 });
      const own = await requestsOf(id as string);
      expect(new Set(own.map(({ actor }) => actor.slice(0, 9)))).to.deep.equal(new Set(['user:usr_']));
    });

    it('are filtered by endpoint, event and time of creation, and never include another account', async () => {
      const other = await merchant.register(receiver.url, ['charge.created', 'charge.paid']);
      const first = await failing();
      await merchant.advance(3_600);
      await failing();
      await merchant.advance(2 * ALL_RETRIES_SECONDS);
      const from = first[0]!.createdAt;
      const matched = async (filter: Body, who?: { readonly key: string }) =>
        (await redrive({ ...filter, dryRun: true }, who))['matched'];
      expect(await matched({})).to.equal(4);
      expect(await matched({ endpointId: endpoint.id })).to.equal(2);
      expect(await matched({ eventType: 'charge.created' })).to.equal(4);
      expect(await matched({ eventType: 'charge.paid', endpointId: other.id })).to.equal(0);
      expect(await matched({ createdBefore: from })).to.equal(2);
      const later = new Date(Date.parse(from) + 60_000).toISOString();
      expect(await matched({ createdAfter: later })).to.equal(2);
      expect(await matched({ createdAfter: later, createdBefore: from })).to.equal(0);
      expect(await matched({ createdAfter: from.slice(0, 10), endpointId: other.id })).to.equal(2);
      expect(await matched({}, await Merchant.open(gateway))).to.equal(0);
      expect(await matched({}, { key: merchant.tenant.liveKey })).to.equal(0);
      isWell = true;
      expect(await redrive({ createdAfter: later, endpointId: other.id })).to.deep.equal({ matched: 1, queued: 1 });
      await merchant.untilDeliveries((all) => all.filter(({ status }) => status === 'DELIVERED').length === 1);
      expect((await merchant.deliveries('?status=FAILED')).total).to.equal(3);
    });

    it('skip endpoints that are inactive or deleted', async () => {
      const other = await merchant.register(receiver.url, ['charge.created']);
      await failing();
      await merchant.advance(ALL_RETRIES_SECONDS);
      await patch({ status: 'INACTIVE' });
      expect(await redrive({ endpointId: endpoint.id })).to.deep.equal({ matched: 1, queued: 0 });
      isWell = true;
      expect(await redrive()).to.deep.equal({ matched: 2, queued: 1 });
      await merchant.untilDeliveries((all) => all.some(({ status }) => status === 'DELIVERED'));
      const left = (await merchant.deliveries('?status=FAILED')).data;
      expect(left.map(({ endpointId }) => endpointId)).to.deep.equal([endpoint.id]);
      await merchant.delete(endpoint);
      await merchant.delete(other);
      expect(await redrive()).to.deep.equal({ matched: 1, queued: 0 });
    });

    it('are rejected with the name of an invalid filter', async () => {
      for (const [body, param] of [
        [{}, 'status'],
        [{ status: 'PENDING' }, 'status'],
        [{ status: 'FAILED', endpointId: 'x' }, 'endpointId'],
        [{ status: 'FAILED', endpointId: endpoint.id.slice(3) }, 'endpointId'],
        [{ status: 'FAILED', eventType: 'charge.payd' }, 'eventType'],
        [{ status: 'FAILED', createdAfter: 'yesterday' }, 'createdAfter'],
        [{ status: 'FAILED', createdBefore: '2026-13-01' }, 'createdBefore'],
      ] as const) {
        const { status, body: answer } = await gateway.post('/v1/webhooks/deliveries/redrive', body, merchant);
        const { code, param: named } = answer['error'] as Body;
        expect([status, code, named], JSON.stringify(body)).to.deep.equal([400, 'invalid_filter', param]);
      }
      const { status, body } = await gateway.post(
        '/v1/webhooks/deliveries/redrive',
        { status: 'FAILED', dryRun: 'yes' },
        merchant,
      );
      expect([status, (body['error'] as Body)['param']]).to.deep.equal([400, 'dryRun']);
    });
  });
});
