// The idempotency key of POST /v1/payments, which is a field of the body (rules K1–K5).

import { expect } from 'chai';
import type { PaymentId } from '../../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../../domain/payment/aggregate.ts';
import { newKey, type Reply, startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { eventTypes, expectError, openReady } from '../../../world/http.ts';
import type { Body } from '../../../world/merchant.ts';
import { type Payment, PaymentDesk } from '../../../world/paymentDesk.ts';
import type { TestDatabase } from '../../../world/postgres.ts';

const FULL = {
  amount: 12_345,
  currency: 'BRL',
  paymentMethods: ['CREDIT_CARD', 'PIX'],
  customerId: 'user-1',
  customerName: 'Ana Souza',
  customerDocument: '12345678909',
  customerEmail: 'ana@example.com',
  metadata: { order: '1', nested: { b: [1, 2], a: null } },
  webhookUrl: 'https://example.com/hook',
};

describe('idempotency of payments', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let desk: PaymentDesk;
  before(async () => {
    database = await startedDatabase();
    gateway = await openReady({ database });
    desk = await PaymentDesk.open(gateway);
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const isReplay = ({ headers }: Reply<unknown>): boolean => headers.get('idempotent-replayed') === 'true';
  const made = async (body: Body, who = desk): Promise<Reply<Payment>> => {
    const reply = await who.ask(body);
    expect([reply.status, isReplay(reply)], reply.text).to.deep.equal([201, false]);
    return reply;
  };
  const replays = async (original: Reply<unknown>, body: unknown, who = desk) => {
    const reply = await who.ask(body);
    expect([reply.status, isReplay(reply), reply.text]).to.deep.equal([original.status, true, original.text]);
  };
  const refusesOther = async (body: Body) =>
    expectError(await desk.ask(body), 409, 'idempotency_key_reused', 'idempotencyKey');
  const creations = async (id: string) =>
    (await eventTypes(gateway, PAYMENT.stream(id as PaymentId))).filter((type) => type === 'ChargeCreated').length;

  it('returns the original response byte for byte, each time the same request is sent', async () => {
    const body = { ...FULL, idempotencyKey: newKey() };
    const original = await made(body);
    for (let i = 0; i < 3; i++) await replays(original, body);
    expect(await creations(original.body.id)).to.equal(1);
  });
  it('returns PENDING, the state at creation, even after the payment was paid (K3)', async () => {
    const body = { ...FULL, idempotencyKey: newKey() };
    const original = await made(body);
    expect(original.body.status).to.equal('PENDING');
    await desk.act(original.body.id, 'authorize', 'APPROVED');
    await replays(original, body);
  });
  it('ignores key order, whitespace and unknown fields', async () => {
    const idempotencyKey = newKey();
    const original = await made({ ...FULL, idempotencyKey });
    const { amount, metadata, ...rest } = FULL;
    const turned = { idempotencyKey, x: 1, metadata: { nested: { a: null, b: [1, 2] }, order: '1' }, ...rest, amount };
    await replays(original, turned);
    await replays(original, JSON.stringify({ ...FULL, idempotencyKey }, null, 2).replace('12345', '1.2345e4'));
  });
  it('returns 409 for other content and leaves the original unchanged', async () => {
    const idempotencyKey = newKey();
    const body = { ...FULL, idempotencyKey };
    const original = await made(body);
    for (const change of [
      { amount: 12_346 },
      { currency: undefined },
      { paymentMethods: ['PIX', 'CREDIT_CARD'] },
      { paymentMethods: ['PIX'] },
      { customerId: 'user-2' },
      { customerName: 'Ana' },
      { customerDocument: undefined },
      { customerEmail: 'b@example.com' },
      { metadata: { ...FULL.metadata, _stripped: 1 } },
      { webhookUrl: 'https://example.com/other' },
    ])
      await refusesOther({ ...body, ...change });
    await replays(original, body);
  });
  it('checks the body before the key (K2a); a rejected request leaves the key free (K5)', async () => {
    const idempotencyKey = newKey();
    await desk.refuses({ ...FULL, amount: 0, idempotencyKey }, 'invalid_amount', 'amount');
    await made({ ...FULL, idempotencyKey });
    await desk.refuses({ ...FULL, amount: 0, idempotencyKey }, 'invalid_amount', 'amount');
  });
  it('creates one payment and 19 replays from 20 identical concurrent requests (K4)', async () => {
    const body = { ...FULL, idempotencyKey: newKey() };
    const replies = await Promise.all(Array.from({ length: 20 }, () => desk.ask(body)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(replies.filter(isReplay).length).to.equal(19);
    expect(await creations(replies[0]!.body.id)).to.equal(1);
  });
  it('creates one payment and returns 409 to the rest of 20 different concurrent requests', async () => {
    const idempotencyKey = newKey();
    const ask = (amount: number) => desk.ask({ ...FULL, amount, idempotencyKey });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i + 1)));
    expect(replies.filter(({ status }) => status === 201).length).to.equal(1);
    for (const reply of replies)
      if (reply.status !== 201) expectError(reply, 409, 'idempotency_key_reused', 'idempotencyKey');
  });
  it('is independent in another account and of charge routes (K1)', async () => {
    const key = newKey();
    const mine = await made({ ...FULL, idempotencyKey: key });
    const theirs = await made({ ...FULL, amount: 1, idempotencyKey: key }, await PaymentDesk.open(gateway));
    const charge = await gateway.charge<{ id: string }>({}, { ...desk.as, idempotencyKey: key });
    expect([charge.status, isReplay(charge)]).to.deep.equal([201, false]);
    expect(new Set([mine.body.id, theirs.body.id, charge.body.id.slice(3)]).size).to.equal(3);
  });
  it('survives a restart', async () => {
    const body = { ...FULL, idempotencyKey: newKey() };
    const original = await made(body);
    await gateway.close();
    gateway = await openReady({ database });
    desk = new PaymentDesk(gateway, desk.tenant);
    await replays(original, body);
    await refusesOther({ ...body, amount: 1 });
    expect(await creations(original.body.id)).to.equal(1);
  });
});
