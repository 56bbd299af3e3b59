// Idempotency of charge creation (rules K1–K7) and provider failures (X6).

import { expect } from 'chai';
import { paymentIds } from '../../../../application/core/derivedIds.ts';
import { metadataForProcess } from '../../../../application/core/eventMetadata.ts';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { type CallOptions, newKey, type Reply, type TestGateway, type TestTenant } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady, rawCall, rawIdOf } from '../../../world/http.ts';
import { Receiver, typeOf } from '../../../world/receiver.ts';

type Body = Record<string, unknown>;
const FULL = {
  amount: 12345,
  currency: 'BRL',
  payment_method: 'pix',
  description: 'Pedido 1',
  expires_in: 1800,
  customer: { name: 'Ana Souza', document: '123.456.789-09', email: 'a@b.co', phone: '+5511' },
  expected_payer_tax_id: '12345678909',
  metadata: { order: '1', nested: { b: [1, 2], a: null } },
};

describe('idempotency of charges', () => {
  let gateway: TestGateway;
  let other: TestTenant;
  before(async () => {
    gateway = await openReady();
    other = await gateway.newTenant();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const create = (
    body: unknown,
    idempotencyKey: string,
    options: CallOptions & { path?: string } = {},
  ): Promise<Reply<Body>> =>
    gateway.call('POST', options.path ?? '/v1/charges', {
      headers: { 'content-type': 'application/json' },
      raw: typeof body === 'string' ? body : JSON.stringify(body),
      idempotencyKey,
      ...options,
    });
  const isReplay = ({ headers }: Reply<unknown>): boolean => headers.get('idempotent-replayed') === 'true';
  const made = async (body: unknown, key: string, options: CallOptions & { path?: string } = {}) => {
    const reply = await create(body, key, options);
    expect([reply.status, reply.headers.get('idempotent-replayed')], reply.text).to.deep.equal([201, null]);
    return reply;
  };
  const replays = async (
    original: Reply<unknown>,
    body: unknown,
    key: string,
    options: CallOptions & { path?: string } = {},
  ) => {
    const reply = await create(body, key, options);
    expect([reply.status, isReplay(reply), reply.text]).to.deep.equal([original.status, true, original.text]);
  };
  const refusesOther = async (body: unknown, key: string, options: CallOptions & { path?: string } = {}) =>
    expectError(await create(body, key, options), 409, 'idempotency_key_reused', 'Idempotency-Key');
  const typesOf = ({ body }: Reply<Body>) =>
    eventTypes(gateway, PAYMENT.stream(rawIdOf(body['id'] as string) as PaymentId));

  describe('the same key', () => {
    it('returns the original response byte for byte, each time the same request is sent', async () => {
      const key = newKey();
      const original = await made(FULL, key);
      for (let i = 0; i < 3; i++) await replays(original, FULL, key);
      expect(await typesOf(original)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('returns the state at creation even after settlement or expiry (K3)', async () => {
      const tenant = await gateway.newTenant();
      const as = { key: tenant.testKey };
      const [paidKey, expiredKey] = [newKey(), newKey()];
      const paid = await made({ amount: 100, payment_method: 'pix' }, paidKey, as);
      const expired = await made({ amount: 100, payment_method: 'pix', expires_in: 60 }, expiredKey, as);
      await gateway.post(`/v1/sandbox/charges/${paid.body['id']}/pay`, {}, as);
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 61 }, as);
      expect((await gateway.get(`/v1/charges/${paid.body['id']}`, as)).body['status']).to.equal('paid');
      expect((await gateway.get(`/v1/charges/${expired.body['id']}`, as)).body['status']).to.equal('expired');
      await replays(paid, { amount: 100, payment_method: 'pix' }, paidKey, as);
      await replays(expired, { amount: 100, payment_method: 'pix', expires_in: 60 }, expiredKey, as);
    });
    it('ignores key order, whitespace and unknown fields', async () => {
      const key = newKey();
      const original = await made(FULL, key);
      const { amount, metadata, customer, ...rest } = FULL;
      const turned = {
        unknown: 1,
        metadata: { nested: { a: null, b: [1, 2] }, order: '1' },
        ...rest,
        customer: {
          phone: customer.phone,
          nick: 'x',
          email: customer.email,
          name: customer.name,
          document: customer.document,
        },
        amount,
      };
      await replays(original, turned, key);
      await replays(original, JSON.stringify(FULL, null, 3), key);
      await replays(
        original,
        JSON.stringify(FULL).replace('12345,', '1.2345e4,').replace('Pedido', 'Ped\\u0069do'),
        key,
      );
    });
    it('returns 409 for other content and leaves the original unchanged', async () => {
      const key = newKey();
      const original = await made(FULL, key);
      const { description: _, ...without } = FULL;
      const others: Body[] = [
        { ...FULL, amount: 12346 },
        { ...FULL, description: 'Pedido 2' },
        { ...FULL, expires_in: 1801 },
        { ...FULL, customer: { ...FULL.customer, name: 'Ana' } },
        { ...FULL, customer: { ...FULL.customer, document: '12345678909' } },
        { ...FULL, metadata: { ...FULL.metadata, order: 1 } },
        { ...FULL, metadata: { ...FULL.metadata, nested: { b: [2, 1], a: null } } },
        { ...FULL, metadata: { ...FULL.metadata, _stripped: true } },
        without,
        { ...without, metadata: { ...FULL.metadata, description: 'Pedido 1' } },
      ];
      for (const body of others) await refusesOther(body, key);
      await replays(original, FULL, key);
      expect(await typesOf(original)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('compares what was sent, before defaults and caps (K2)', async () => {
      const bare = { amount: 5, payment_method: 'pix' };
      for (const [first, second] of [
        [bare, { ...bare, currency: 'BRL' }],
        [bare, { ...bare, expires_in: 3600 }],
        [
          { ...bare, expires_in: 86_400 },
          { ...bare, expires_in: 90_000 },
        ],
        [bare, { ...bare, metadata: {} }],
        [bare, { ...bare, customer: {} }],
      ]) {
        const key = newKey();
        await made(first, key);
        await refusesOther(second, key);
      }
    });
    it('is shared by both routes (K1)', async () => {
      const path = '/v1/pix/charges';
      const [a, b] = [newKey(), newKey()];
      const first = await made({ amount: 5, payment_method: 'pix' }, a);
      await replays(first, { amount: 5 }, a, { path });
      await refusesOther({ amount: 6 }, a, { path });
      const second = await made({ amount: 5 }, b, { path });
      await replays(second, { amount: 5, payment_method: 'pix' }, b);
      await replays(second, { amount: 5, payment_method: 'whatever' }, b, { path });
    });
    it('is independent in another account and in live mode', async () => {
      const key = newKey();
      const mine = await made(FULL, key);
      const theirs = await made({ ...FULL, amount: 1 }, key, { key: other.testKey });
      expect(theirs.body['id']).to.not.equal(mine.body['id']);
      expectError(
        await create({ ...FULL, amount: 2 }, key, { key: gateway.tenant.liveKey }),
        422,
        'unprocessable_entity',
      );
      await replays(mine, FULL, key);
      await replays(theirs, { ...FULL, amount: 1 }, key, { key: other.testKey });
    });
    it('returns 400 for an invalid body (K2a)', async () => {
      const key = newKey();
      await made(FULL, key);
      expectError(await create({ ...FULL, amount: 0 }, key), 400, 'invalid_amount', 'amount');
      expectError(await create('{', key), 400, 'invalid_json');
    });
    it('is compared exactly', async () => {
      const key = newKey();
      const ids = await Promise.all(
        [key, `${key} x`, key.toUpperCase(), `${key}0`].map(async (k) => (await made(FULL, k)).body['id']),
      );
      expect(new Set(ids).size).to.equal(4);
    });
  });

  describe('under concurrency (K4)', () => {
    it('creates one charge and 19 replays from 20 identical requests', async () => {
      const key = newKey();
      const replies = await Promise.all(Array.from({ length: 20 }, () => create(FULL, key)));
      expect(replies.map(({ status }) => status)).to.deep.equal(Array(20).fill(201));
      expect(new Set(replies.map(({ text }) => text)).size).to.equal(1);
      expect(replies.filter(isReplay).length).to.equal(19);
      expect(await typesOf(replies[0]!)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('creates one charge and returns 409 to the rest of 20 different requests', async () => {
      const key = newKey();
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => create({ ...FULL, amount: i + 1 }, key)));
      expect(replies.filter(({ status }) => status === 201).length).to.equal(1);
      for (const reply of replies)
        if (reply.status !== 201) expectError(reply, 409, 'idempotency_key_reused', 'Idempotency-Key');
    });
  });

  describe('the format of the key (K6)', () => {
    for (const key of ['x'.repeat(8), 'x'.repeat(128), '~!@#$%^&*()_+"', 'with space', '{"a":[1]}'])
      it(`accepts and replays ${key.slice(0, 20)} (${key.length})`, async () =>
        replays(await made(FULL, key), FULL, key));
    for (const key of ['x'.repeat(7), 'x'.repeat(129), 'x'.repeat(2_000), 'tab\there', 'é12345678', 'x\u00a0345678'])
      it(`rejects ${JSON.stringify(key.slice(0, 20))} (${key.length})`, async () => {
        for (const path of ['/v1/charges', '/v1/pix/charges'])
          expectError(await create(FULL, key, { path }), 400, 'invalid_idempotency_key', 'Idempotency-Key');
      });
    it('requires a key on both routes', async () => {
      for (const path of ['/v1/charges', '/v1/pix/charges']) {
        expectError(await gateway.post(path, FULL), 400, 'idempotency_key_required', 'Idempotency-Key');
        expectError(
          await gateway.post(path, FULL, { idempotencyKey: '' }),
          400,
          'idempotency_key_required',
          'Idempotency-Key',
        );
      }
    });
    it('rejects a key that is sent twice, because a proxy may have read the other one', async () => {
      for (const second of ['same-key-1', 'other-key-2']) {
        const headers = { 'content-type': 'application/json', 'idempotency-key': ['same-key-1', second] };
        const reply = await rawCall(gateway, { headers, chunks: [JSON.stringify(FULL)] });
        expectError(reply, 400, 'invalid_idempotency_key', 'Idempotency-Key');
        expect(reply.body['error']).to.have.property('message', 'The Idempotency-Key header must occur only once.');
      }
    });
    it('is checked after the body', async () => {
      expectError(await gateway.post('/v1/charges', { ...FULL, amount: 0 }), 400, 'invalid_amount', 'amount');
    });
  });

  describe('with provider failures (X6)', () => {
    const trouble = (kind: string): Body => ({
      amount: 777,
      payment_method: 'pix',
      metadata: { sandbox_provider: kind },
    });
    const idFor = async (key: string): Promise<PaymentId> => {
      const account = await gateway.gateway.accounts.get(gateway.tenant.accountId);
      return paymentIds(account, 'test', 'charges.create', key).paymentId;
    };
    const isUnavailable = async (reply: Promise<Reply<Body>>) => {
      const { headers } = await reply;
      expectError(await reply, 503, 'service_unavailable');
      expect(headers.get('retry-after')).to.equal('2');
    };

    it('timeout: returns 503, is pending without pix, and a repeat finds the provider’s charge', async () => {
      const key = newKey();
      await isUnavailable(create(trouble('timeout'), key));
      const id = await idFor(key);
      expect(await eventTypes(gateway, PAYMENT.stream(id))).to.deep.equal(['ChargeCreated']);
      const meanwhile = (await gateway.get(`/v1/charges/ch_${id}`)).body;
      expect(meanwhile).to.include({ status: 'pending', amount: 777 });
      expect(meanwhile).to.not.have.property('pix');
      const transaction = (await gateway.get(`/v1/payments/${id}`)).body;
      expect(transaction).to.include({ status: 'PENDING', pixCopyPaste: null, pixQrCode: null, pixExpiresAt: null });
      const resumed = await create(trouble('timeout'), key);
      expect([resumed.status, resumed.body['status'], resumed.body['id']]).to.deep.equal([201, 'pending', `ch_${id}`]);
      expect(resumed.body).to.have.property('pix');
      await replays(resumed, trouble('timeout'), key);
      expect(await eventTypes(gateway, PAYMENT.stream(id))).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
      expect((await gateway.get(`/v1/charges/ch_${id}`)).text).to.equal(resumed.text);
    });
    it('timeout: returns 409 for other content with the same key', async () => {
      const key = newKey();
      await isUnavailable(create(trouble('timeout'), key));
      await refusesOther(trouble('unavailable'), key);
    });
    it('unavailable: returns 503 each time, stores one intent and sends no webhook', async () => {
      const receiver = await Receiver.open();
      const endpoint = await gateway.post('/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] });
      const key = newKey();
      await isUnavailable(create(trouble('unavailable'), key));
      await isUnavailable(create(trouble('unavailable'), key));
      const id = await idFor(key);
      expect(await eventTypes(gateway, PAYMENT.stream(id))).to.deep.equal(['ChargeCreated']);
      expect((await gateway.get(`/v1/charges/${id}`)).body['status']).to.equal('pending');
      expect((await gateway.post('/v1/sandbox/deliveries/flush')).body).to.deep.equal({ pending: 0 });
      expect(receiver.got.map(typeOf)).to.deep.equal([]);
      await gateway.call('DELETE', `/v1/webhooks/endpoints/${endpoint.body['id']}`);
      await receiver.close();
    });
    it('unavailable: gives up within 10 minutes of account time', async () => {
      const tenant = await gateway.newTenant();
      const as = { key: tenant.testKey };
      const key = newKey();
      await isUnavailable(create(trouble('unavailable'), key, as));
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 600 }, as);
      const replay = await create(trouble('unavailable'), key, as);
      expect([replay.status, replay.body['status']]).to.deep.equal([201, 'failed']);
      const { failure } = replay.body['metadata'] as { failure: Body };
      expect(failure['providerErrorCode']).to.equal('not_confirmed');
      expect(Date.parse(failure['at'] as string) - Date.parse(replay.body['created_at'] as string)).to.equal(60_000);
      await replays(replay, trouble('unavailable'), key, as);
    });
    it('timeout: recovers without a repeat within 10 minutes of account time', async () => {
      const tenant = await gateway.newTenant();
      const as = { key: tenant.testKey };
      const key = newKey();
      await isUnavailable(create(trouble('timeout'), key, as));
      await gateway.post('/v1/sandbox/clock/advance', { seconds: 600 }, as);
      const found = await create(trouble('timeout'), key, as);
      expect([found.status, isReplay(found), found.body['status']]).to.deep.equal([201, true, 'pending']);
    });
    it('rejected: returns a failed charge with metadata.failure and no pix; sends charge.failed, never charge.created', async () => {
      const receiver = await Receiver.open();
      const endpoint = await gateway.post('/v1/webhooks/endpoints', { url: receiver.url, events: ['*'] });
      const key = newKey();
      const failed = await made(trouble('rejected'), key);
      expect(failed.body['status']).to.equal('failed');
      expect(failed.body).to.not.have.property('pix');
      const { failure } = failed.body['metadata'] as { failure: Body };
      expect(failure).to.deep.equal({
        reason: 'The sandbox provider rejected the charge.',
        providerErrorCode: 'rejected',
        ttlSeconds: 3600,
        at: failure['at'],
      });
      await replays(failed, trouble('rejected'), key);
      expect((await gateway.get(`/v1/charges/${failed.body['id']}`)).text).to.equal(failed.text);
      expect((await gateway.get(`/v1/payments/${rawIdOf(failed.body['id'] as string)}`)).body['status']).to.equal(
        'REFUSED',
      );
      await receiver.until((hit) => typeOf(hit) === 'charge.failed');
      await gateway.post('/v1/sandbox/deliveries/flush');
      expect(receiver.got.map(typeOf).sort()).to.deep.equal([
        'charge.failed',
        'payment.failed',
        'payment.status_changed',
      ]);
      await gateway.call('DELETE', `/v1/webhooks/endpoints/${endpoint.body['id']}`);
      await receiver.close();
    });
    it('slow: a concurrent request waits for the first one and replays it', async () => {
      const key = newKey();
      const replies = await Promise.all([create(trouble('slow'), key), create(trouble('slow'), key)]);
      expect(replies.map(({ status }) => status)).to.deep.equal([201, 201]);
      expect(replies.filter(isReplay).length).to.equal(1);
      expect(replies[0]!.text).to.equal(replies[1]!.text);
      expect(await typesOf(replies[0]!)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
    it('crash between intent and Pix code: a repeat resumes the same charge', async () => {
      const [key, sibling] = [newKey(), newKey()];
      const like = await made(trouble('none'), sibling);
      const { state } = await gateway.gateway.commands.load(
        PAYMENT,
        PAYMENT.stream(rawIdOf(like.body['id'] as string) as PaymentId),
      );
      if (state.charge.status !== 'open') throw new Error('not open');
      const { terms, fingerprint } = state.charge;
      const account = await gateway.gateway.accounts.get(gateway.tenant.accountId);
      const ids = paymentIds(account, 'test', 'charges.create', key);
      const intent = { type: 'ChargeCreated', data: { ...terms, ...ids, fingerprint } } as const;
      const why = metadataForProcess('test', terms, ids.paymentId, 'crash');
      await gateway.gateway.commands.execute(
        PAYMENT,
        PAYMENT.stream(ids.paymentId),
        () => ({ events: [intent], reply: 0 }),
        why,
        { creates: true },
      );
      expect((await gateway.get(`/v1/charges/${ids.paymentId}`)).body).to.not.have.property('pix');
      await refusesOther(trouble('slow'), key);
      const resumed = await create(trouble('none'), key);
      expect([resumed.status, resumed.body['id']]).to.deep.equal([201, `ch_${ids.paymentId}`]);
      expect((resumed.body['pix'] as Body)['txid']).to.equal(ids.txid);
      await replays(resumed, trouble('none'), key);
      expect(await typesOf(resumed)).to.deep.equal(['ChargeCreated', 'ChargePixIssued']);
    });
  });
});
