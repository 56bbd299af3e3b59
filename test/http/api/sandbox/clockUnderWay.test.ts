// Deliveries under way when the test clock is advanced end at the instant at which it left, and are retried within the jump (rule X5).
import { expect } from 'chai';
import { ACCOUNT } from '../../../../domain/account/account.ts';
import type { DeliveryId, EndpointId, StreamName } from '../../../../domain/kernel/ids.ts';
import { WEBHOOK_DELIVERY } from '../../../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { answering, expectSchedule, gate, MAX_ATTEMPTS, refuses } from '../../../world/deliveryFacts.ts';
import { deliveryScene } from '../../../world/deliveryScene.ts';
import { startedDatabase, type TestGateway } from '../../../world/gateway.ts';
import { openReady, rawIdOf } from '../../../world/http.ts';
import { Merchant } from '../../../world/merchant.ts';
import type { Script } from '../../../world/receiver.ts';

const TEN_DAYS = 864_000;

type Tenant = Awaited<ReturnType<typeof Merchant.open>>['tenant'];

/** Returns the instants at which the account's test clock left for its jumps. */
const jumpedFrom = async ({ storage }: TestGateway, { accountId }: Tenant): Promise<string[]> => {
  const instants: string[] = [];
  for await (const { type, data } of storage.store.readStream(ACCOUNT.stream(accountId)))
    if (type === 'AccountTestClockAdvanced') instants.push((JSON.parse(data) as { from: string }).from);
  return instants;
};

/** Advances by ten days or `seconds`. Calls `whenBegun` when the advance is recorded. */
const advancing = async (merchant: Merchant, whenBegun: () => unknown, seconds = TEN_DAYS): Promise<void> => {
  const { offset_seconds: before } = await merchant.clock();
  const advance = merchant.advance(seconds);
  while ((await merchant.clock()).offset_seconds === before);
  await whenBegun();
  expect((await advance).offset_seconds).to.equal(before + seconds);
};

/** Returns type and time of all events in the stream. */
const historyOf = async ({ storage }: TestGateway, stream: StreamName): Promise<{ type: string; at: string }[]> => {
  const events: { type: string; at: string }[] = [];
  for await (const { type, data } of storage.store.readStream(stream))
    events.push({ type, at: (JSON.parse(data) as { at: string }).at });
  return events;
};
const deliveryStream = (id: string) => WEBHOOK_DELIVERY.stream(rawIdOf(id) as DeliveryId);

/** Holds only the first request. Others are refused until `mend` is called. */
const heldThenRefused = (held: Script): { script: Script; mend: () => void } => {
  let others: Script = refuses;
  const mend = () => {
    others = answering(() => 200);
  };
  return { script: (hit, res, n) => (n === 1 ? held(hit, res, n) : others(hit, res, n)), mend };
};

/** Holds only the first request. */
const firstHeld =
  (held: Script): Script =>
  (hit, res, n) =>
    n === 1 ? held(hit, res, n) : refuses(hit, res, n);

/** Expects all attempts to have failed at their own instants, the first one at the instant at which the clock left. */
const expectAllFailed = async (gateway: TestGateway, merchant: Merchant, tenant: Tenant): Promise<void> => {
  const delivery = await merchant.delivery();
  const attempts = await expectSchedule(gateway, delivery, MAX_ATTEMPTS);
  expect([attempts[0]!.at]).to.deep.equal(await jumpedFrom(gateway, tenant));
  const { at: updatedAt } = attempts.at(-1)!;
  expect(delivery).to.include({ status: 'FAILED', attempts: MAX_ATTEMPTS, nextRetryAt: null, updatedAt });
};

describe('a delivery under way when the test clock is advanced', () => {
  let gateway: TestGateway;
  let merchant: Merchant & { readonly tenant: Tenant };
  const receivers = deliveryScene((opened, own) => {
    gateway = opened;
    merchant = own;
  });
  let undo = (): void => undefined;
  afterEach(() => undo());

  /** Lets no message be scheduled, or no job of deliveries begin, until the returned function is called. */
  const hold = (what: 'schedule' | 'find') => {
    const { scheduled } = gateway.gateway.needs;
    const original = scheduled[what].bind(scheduled) as (all: never) => Promise<unknown>;
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const held = async (all: never) => {
      await promise;
      return original(all);
    };
    undo = () => void Object.assign(scheduled, { [what]: original });
    Object.assign(scheduled, { [what]: held });
    return open;
  };

  it('is retried at its own instants after its first attempt failed', async () => {
    const { script, open } = gate(500);
    const receiver = await receivers.open(firstHeld(script));
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await receiver.until(() => true);
    await advancing(merchant, open);
    await expectAllFailed(gateway, merchant, merchant.tenant);
    expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
  });

  it('is delivered at the instant at which the clock left', async () => {
    const { script, open } = gate(200);
    const receiver = await receivers.open(script);
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await receiver.until(() => true);
    await advancing(merchant, open);
    const [deliveredAt] = await jumpedFrom(gateway, merchant.tenant);
    expect(await merchant.delivery()).to.include({ status: 'DELIVERED', attempts: 1, deliveredAt });
  });

  it('is attempted at that instant if its message was not scheduled yet', async () => {
    const receiver = await receivers.open(refuses);
    await merchant.register(receiver.url, ['charge.created']);
    const open = hold('schedule');
    await merchant.charge();
    await advancing(merchant, open);
    await expectAllFailed(gateway, merchant, merchant.tenant);
    expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
  });

  /** Advances the clock while the first attempt hangs. The function that it returns lets that attempt fail; later ones are accepted. */
  const outlastsAdvance = async (): Promise<() => unknown> => {
    const { script, open } = gate(500);
    const receiver = await receivers.open((hit, res, n) => (n === 1 ? script(hit, res, n) : void res.end()));
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await receiver.until(() => true);
    await merchant.advance(TEN_DAYS);
    return open;
  };

  it('is retried at its own instant even if its first attempt outlasts the advance', async () => {
    const open = await outlastsAdvance();
    const delivery = await merchant.delivery();
    expect(delivery).to.include({ status: 'PROCESSING', attempts: 0 });
    open();
    await merchant.flush();
    const [first] = await expectSchedule(gateway, delivery, 1);
    expect([first!.at]).to.deep.equal(await jumpedFrom(gateway, merchant.tenant));
    const { nextAttemptAt: deliveredAt } = first!;
    expect(await merchant.delivery()).to.include({ status: 'DELIVERED', attempts: 2, deliveredAt });
  });

  it('gets 5 s if its attempt begins only while the clock is advanced (W4)', async () => {
    const silent = await receivers.open(() => undefined);
    await merchant.register(silent.url, ['charge.created']);
    const begin = hold('find');
    await merchant.charge();
    await advancing(merchant, begin, 1);
    const [delivery] = await merchant.untilDeliveries(([one]) => one?.attempts === 1);
    expect(delivery).to.include({ lastError: 'timeout: no answer within 5000 ms' });
  });

  it('releases retries of later messages when it is accepted after the advance (W3)', async () => {
    const { script: held, open } = gate(200);
    const { script, mend } = heldThenRefused(held);
    const receiver = await receivers.open(script);
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await receiver.until(() => true);
    await merchant.advance(TEN_DAYS);
    for (let n = 0; n < 3; n++) await merchant.charge();
    // The third attempts are due about 30 s after the second ones.
    const failed = await merchant.untilDeliveries((all) => all.filter(({ attempts }) => attempts === 2).length === 3);
    mend();
    open();
    const delivered = await merchant.untilDeliveries((all) => all.every(({ status }) => status === 'DELIVERED'));
    const dueAt = new Map(failed.map(({ id, nextRetryAt }) => [id, nextRetryAt]));
    const later = delivered.filter(({ attempts }) => attempts === 3);
    expect(later.map(({ id, deliveredAt }) => deliveredAt! < dueAt.get(id)!)).to.deep.equal([true, true, true]);
  });

  it('fails at the time of a manual retry that was requested meanwhile', async () => {
    const open = await outlastsAdvance();
    const { id } = await merchant.delivery();
    expect((await gateway.post(`/v1/webhooks/deliveries/${id}/retry`, {}, merchant)).status).to.equal(200);
    open();
    const [delivery] = await merchant.untilDeliveries(([one]) => one?.status === 'DELIVERED');
    const [requested, ...attempts] = await historyOf(gateway, deliveryStream(id));
    expect(requested!.type).to.equal('WebhookDeliveryRetryRequested');
    expect(attempts).to.deep.equal([
      { type: 'WebhookDeliveryAttemptFailed', at: requested!.at },
      { type: 'WebhookDeliverySucceeded', at: delivery!.deliveredAt },
    ]);
    expect(delivery!.deliveredAt! > requested!.at).to.equal(true);
  });

  /** Expects that the only delivery was cancelled at the instant at which its endpoint was deleted. */
  const expectCancelledWith = async (endpointId: string) => {
    const [delivery] = await merchant.untilDeliveries(([one]) => one?.status === 'CANCELLED');
    const deleted = (await historyOf(gateway, WEBHOOK_ENDPOINT.stream(rawIdOf(endpointId) as EndpointId))).at(-1)!;
    expect(deleted.type).to.equal('WebhookEndpointDeleted');
    const { at } = deleted;
    const cancelled = (await historyOf(gateway, deliveryStream(delivery!.id))).at(-1);
    expect(cancelled).to.deep.equal({ type: 'WebhookDeliveryCancelled', at });
  };

  it('is cancelled when its endpoint is deleted during an attempt that outlasts the advance', async () => {
    const { script, open } = gate(500);
    const receiver = await receivers.open(firstHeld(script));
    const endpoint = await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await receiver.until(() => true);
    await merchant.advance(TEN_DAYS);
    await merchant.delete(endpoint);
    open();
    await expectCancelledWith(endpoint.id);
  });

  it('is cancelled when its endpoint is deleted before an attempt that outlasts the advance begins', async () => {
    const receiver = await receivers.open();
    const endpoint = await merchant.register(receiver.url, ['charge.created']);
    const begin = hold('find');
    await merchant.charge();
    await merchant.advance(TEN_DAYS);
    await merchant.delete(endpoint);
    begin();
    await expectCancelledWith(endpoint.id);
    expect(receiver.got.length).to.equal(0);
  });

  it('is sent at that instant if its paused endpoint was resumed just before', async () => {
    const receiver = await receivers.open();
    const { id } = await merchant.register(receiver.url, ['charge.created']);
    const setStatus = async (status: string) => {
      const request = { body: { status }, key: merchant.key };
      expect((await gateway.call('PATCH', `/v1/webhooks/endpoints/${id}`, request)).status).to.equal(200);
    };
    const schedule = hold('schedule');
    await merchant.charge();
    await setStatus('INACTIVE');
    schedule();
    await merchant.flush();
    const begin = hold('find');
    await setStatus('ACTIVE');
    await advancing(merchant, begin);
    const [deliveredAt] = await jumpedFrom(gateway, merchant.tenant);
    expect(await merchant.delivery()).to.include({ status: 'DELIVERED', attempts: 1, deliveredAt });
  });

  it('is sent at that instant if a redrive of it was requested just before', async () => {
    const receiver = await receivers.open(answering((_hit, n) => (n <= MAX_ATTEMPTS ? 500 : 200)));
    await merchant.register(receiver.url, ['charge.created']);
    await merchant.charge();
    await merchant.flush();
    await merchant.advance(TEN_DAYS);
    const { needs } = gateway.gateway;
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const page = needs.deadLetters.page.bind(needs.deadLetters);
    needs.deadLetters.page = async (...asked) => {
      await promise;
      return page(...asked);
    };
    undo = () => {
      needs.deadLetters.page = page;
    };
    const { status } = await gateway.post('/v1/webhooks/deliveries/redrive', { status: 'FAILED' }, merchant);
    expect(status).to.equal(202);
    await advancing(merchant, open);
    const [, deliveredAt] = await jumpedFrom(gateway, merchant.tenant);
    expect(await merchant.delivery()).to.include({ status: 'DELIVERED', attempts: MAX_ATTEMPTS + 1, deliveredAt });
  });

  it('is attempted at that instant by another process that starts later', async () => {
    const database = await startedDatabase();
    const serving = await openReady({ database, isAlone: false });
    const { tenant } = serving;
    const own = new Merchant(serving, tenant.testKey);
    const receiver = await receivers.open(refuses);
    await own.register(receiver.url, ['charge.created']);
    expect(await serving.gateway.reacted.caughtUp(10_000)).to.equal(true);
    await serving.gateway.reactor?.stop();
    serving.isPatient = false;
    const working: TestGateway[] = [];
    try {
      await own.charge();
      await advancing(own, async () => working.push(await openReady({ database, isAlone: false })));
      await expectAllFailed(serving, own, tenant);
      expect(receiver.got.length).to.equal(MAX_ATTEMPTS);
    } finally {
      for (const one of [serving, ...working]) await one.close();
      await database.drop();
    }
  });
});
