// An endpoint that accepts connections and never answers delays no clock (rules W4, X5).
import { expect } from 'chai';
import { failedAttempts } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import { newKey, type TestGateway } from '../../../world/gateway.ts';
import { rawIdOf } from '../../../world/http.ts';
import { type Body, eventOf, type Merchant } from '../../../world/merchant.ts';
import { pollUntil } from '../../../world/pollUntil.ts';
import { type Receiver, typeOf } from '../../../world/receiver.ts';

describe('the test clock with a silent endpoint', () => {
  let gateway: TestGateway;
  let merchant: Awaited<ReturnType<typeof Merchant.open>>;
  let silent: Receiver;
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  let undo = (): void => undefined;
  afterEach(() => undo());
  beforeEach(async () => {
    silent = await receivers.open(() => undefined);
  });
  /** Advances with the patience of the product, not of the test gateway. */
  const advance = async (seconds: number) => {
    gateway.isPatient = false;
    const reply = await merchant.tryAdvance({ seconds });
    gateway.isPatient = true;
    return reply;
  };
  /** Makes all attempts last at least until the promise resolves. */
  const holdAttempts = (until: Promise<void>) => {
    const { sender } = gateway.gateway.needs;
    const send = sender.sendInTurn.bind(sender);
    sender.sendInTurn = async (...attempt) => {
      const outcome = await send(...attempt);
      await until;
      return outcome;
    };
    undo = () => {
      sender.sendInTurn = send;
    };
  };
  const drained = async () =>
    expect(await gateway.gateway.services.whenClockDrained(merchant.tenant.accountId, 30_000)).to.equal(true);

  it('returns within 5 s with all money effects done; deliveries continue in parallel', async () => {
    for (const path of ['a', 'b', 'c', 'd']) await merchant.register(`${silent.url}/${path}`, ['charge.expired']);
    const charges = await Promise.all([60, 61, 62].map((seconds) => merchant.charge({ expires_in: seconds })));
    const startedMs = performance.now();
    const { status, body } = await advance(69);
    expect(performance.now() - startedMs).to.be.below(9_500); // finishing everything takes at least twice 5 s
    expect([status, body.offset_seconds]).to.deep.equal([202, 69]);
    for (const { id, expiresAt: at } of charges) {
      expect(await merchant.statusOf(id)).to.equal('expired');
      expect(await eventOf(gateway, id, 'ChargeExpired')).to.deep.equal({ at });
    }
    await drained();
    // 24 attempts of 5 s: twelve first ones and their retries.
    expect(performance.now() - startedMs).to.be.below(28_000); // one after another to each of the four endpoints takes 30 s
    const { data } = await merchant.deliveries();
    expect(data.length).to.equal(12);
    expect(silent.got.length).to.be.within(24, 36); // real time may have reached a third attempt
    for (const { id, attempts, lastError, createdAt } of data) {
      expect([attempts, lastError]).to.deep.equal([2, 'timeout: no answer within 5000 ms']);
      const [first, second] = await failedAttempts(gateway, id);
      expect([first!.at, second!.at]).to.deep.equal([createdAt, first!.nextAttemptAt]); // each at its own instant
    }
  });

  it('doesn’t block a refund, or a charge that expires after the jump', async () => {
    await merchant.register(silent.url, ['charge.expired']);
    const paid = await merchant.charge({ amount: 1_000 });
    await merchant.pay(paid.id);
    const jumped = await merchant.charge({ expires_in: 60 });
    const next = await merchant.charge({ expires_in: 122 });
    const held = Promise.withResolvers<void>();
    holdAttempts(held.promise);
    const advanced = advance(120);
    await silent.until((hit) => typeOf(hit) === 'charge.expired');
    const refund = { idempotencyKey: newKey(), amount: 400 };
    expect((await gateway.post(`/v1/payments/${rawIdOf(paid.id)}/refund`, refund, merchant)).status).to.equal(201);
    const until = async (what: () => Promise<unknown>, expected: unknown) => {
      const isSo = async () => ((await what()) === expected ? true : null);
      expect(await pollUntil(gateway.gateway.projected, 20_000, isSo)).to.equal(true);
    };
    await until(() => merchant.statusOf(next.id), 'expired');
    const statusOfRefund = async () =>
      (await merchant.get<{ data: Body[] }>(`/v1/payments/${rawIdOf(paid.id)}/refunds`)).body.data[0]?.['status'];
    await until(statusOfRefund, 'REFUNDED');
    expect((await advanced).status).to.equal(202);
    held.resolve();
    expect(await merchant.statusOf(jumped.id)).to.equal('expired');
  });

  it('gives each attempt 5 s during a jump', async () => {
    await merchant.register(silent.url, ['charge.expired']);
    await merchant.charge({ expires_in: 60 });
    const startedMs = performance.now();
    await merchant.tryAdvance({ seconds: 60 });
    await drained();
    expect(performance.now() - startedMs).to.be.within(5_000, 29_000); // 30 s in real time
    expect(await merchant.delivery()).to.include({ attempts: 1, lastError: 'timeout: no answer within 5000 ms' });
  });

  it('returns within 5 s with everything else done while an attempt that began before hangs', async () => {
    await merchant.register(silent.url, ['charge.created']);
    const { id, expiresAt: at } = await merchant.charge({ expires_in: 3_600 });
    await silent.until(() => true);
    const startedMs = performance.now();
    expect((await advance(3_600)).status).to.equal(202);
    expect(performance.now() - startedMs).to.be.below(9_500);
    expect(await merchant.statusOf(id)).to.equal('expired');
    expect(await eventOf(gateway, id, 'ChargeExpired')).to.deep.equal({ at });
    await drained();
    expect(performance.now() - startedMs).to.be.below(20_000); // the attempt lasts 30 s
    expect(await merchant.delivery()).to.include({ status: 'PROCESSING', attempts: 0 });
  });
});
