// Unreadable events among valid payments, as left in the log by a broken writer or a future version.

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { EventStore } from '../../application/ports/eventStore.ts';
import type { PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { readParked } from '../../projections/engine/parkedStreams.ts';
import type { TestGateway, TestTenant } from './gateway.ts';
import { Receiver } from './receiver.ts';

/** An event type that this version doesn't know. */
export const UNKNOWN = 'ChargeTeleported';
const POISONS = [
  { type: UNKNOWN, data: '{"at":"2026-11-21T13:00:00.000Z"}' },
  { type: 'TransactionSettled', data: '{"amount":"much"}' },
  { data: '{"at": yesterday}' },
  { metadata: '{"v":1}' },
] as const;

export const paymentStream = (chargeId: string): StreamName => PAYMENT.stream(chargeId.slice(3) as PaymentId);

/** Appends an unreadable event. `kind` selects the kind of damage, modulo their number. */
export const poison = async (
  { storage: { store } }: { readonly storage: { readonly store: EventStore } },
  { accountId }: Pick<TestTenant, 'accountId'>,
  stream: StreamName,
  kind = 0,
): Promise<void> => {
  const over = POISONS[kind % POISONS.length];
  const plain = {
    type: 'ChargeExpired',
    data: '{}',
    metadata: JSON.stringify({ account: accountId, mode: 'test', v: 1 }),
  };
  for (;;) {
    let revision = -1;
    for await (const event of store.readStream(stream)) revision = event.revision;
    const done = await store.append(stream, revision, [{ id: randomUUID(), ...plain, ...over }]);
    if (done.ok) return;
  }
};

interface PoisonedRun {
  readonly payments: number;
  readonly poisoned: number;
  /** Number of concurrent requests. */
  readonly atOnce: number;
  readonly patienceMs: number;
}

const AMOUNT = 10_000;
/** Net amount of a Pix payment (rule M1): the provider's fee is 10, the platform's 1 %. */
const NET = AMOUNT - 10 - 100;
const REFUND = 100;
const REFUND_EVERY = 10;

/**
 * Creates payments of two merchants, all paid and some partially refunded, and poisoned payments of a third one among them. Expects that
 * exactly the poisoned ones are parked, and that the others' webhooks, wallets and refunds are unaffected. Returns the poisoned streams.
 */
export const playPoisoned = async (
  gateway: TestGateway,
  sick: TestTenant,
  { payments, poisoned, atOnce, patienceMs }: PoisonedRun,
): Promise<readonly StreamName[]> => {
  const well = [await gateway.newTenant(), await gateway.newTenant()] as const;
  const told = { paid: new Set<string>(), refunded: 0 };
  const receiver = await Receiver.open(({ body }, res) => {
    if (body['type'] === 'charge.paid') told.paid.add((body['data'] as { object: { id: string } }).object.id);
    if (body['event'] === 'payment.refunded') told.refunded++;
    res.end();
  });
  const ok = <T extends { readonly status: number; readonly text: string }>(reply: T, status = 200): T => {
    expect(reply.status, reply.text).to.equal(status);
    return reply;
  };
  for (const { testKey: key } of well) {
    const body = { url: receiver.url, events: ['charge.paid', 'payment.refunded'] };
    ok(await gateway.post('/v1/webhooks/endpoints', body, { key }), 201);
  }
  const streams: StreamName[] = [];
  const paid: string[][] = [[], []];
  let refunds = [0, 0];
  const every = Math.floor(payments / poisoned);
  const one = async (n: number): Promise<void> => {
    const isPoisoned = n % every === every - 1 && streams.length < poisoned;
    const who = n % 2;
    const { testKey: key } = isPoisoned ? sick : (well[who] as TestTenant);
    const stream = isPoisoned ? streams.push('' as StreamName) - 1 : null;
    const { body } = ok(await gateway.charge<{ id: string }>({ amount: AMOUNT }, { key }), 201);
    if (stream !== null) {
      streams[stream] = paymentStream(body.id);
      return poison(gateway, sick, streams[stream], stream);
    }
    const pay = await gateway.post(`/v1/sandbox/charges/${body.id}/pay`, {}, { key });
    expect([200, 202], pay.text).to.include(pay.status);
    paid[who]?.push(body.id);
    if (n % REFUND_EVERY > 1) return;
    const asked = { amount: REFUND, idempotencyKey: `refund-${body.id}` };
    for (;;) {
      const reply = await gateway.post<{ error: { code: string } }>(`/v1/payments/${body.id}/refund`, asked, { key });
      // A payment whose sandbox answered 202 may not be settled yet.
      if (reply.status === 400 && reply.body.error.code === 'transaction_not_refundable') continue;
      ok(reply, 201);
      refunds = refunds.with(who, (refunds[who] as number) + 1);
      return;
    }
  };
  let next = 0;
  const worker = async () => {
    while (next < payments) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));

  const all = paid.flat();
  const refunded = refunds.reduce((a, b) => a + b);
  await receiver.until(() => told.paid.size === all.length && told.refunded === refunded, patienceMs);
  expect([...told.paid].toSorted()).to.deep.equal(all.toSorted());
  expect(told.refunded).to.equal(refunded);
  for (const [who, { testKey: key }] of well.entries()) {
    const { body } = ok(await gateway.get('/v1/wallets/balance', { key }));
    const net = NET * (paid[who]?.length ?? 0) - REFUND * (refunds[who] as number);
    expect(body).to.include({ available: net, pending: 0 });
  }
  await receiver.close();
  const parked = new Set((await readParked(gateway.storage.reads, null)).map(({ stream }) => stream));
  expect([...parked].toSorted()).to.deep.equal(streams.toSorted());
  expect(streams).to.have.length(poisoned);
  return streams;
};
