// How a delivery job handles its input when repeated, late, or after a crash (rules W3, W4; architecture §7).
import { expect } from 'chai';
import { deliveryIdOf, eventIdOf } from '../../../application/core/derivedIds.ts';
import type { FailingTargets } from '../../../application/ports/failingTargets.ts';
import type { ScheduledDelivery } from '../../../application/ports/scheduledDeliveries.ts';
import type { WebhookSecrets } from '../../../application/ports/secrets.ts';
import type { Timer } from '../../../application/ports/timers.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../../application/ports/webhookSender.ts';
import { StreamMessages } from '../../../application/webhooks/streamMessages.ts';
import { DeliveryWorker } from '../../../application/webhooks/webhookDelivery.ts';
import { signatureHeaders } from '../../../application/webhooks/webhookSignature.ts';
import { ACCOUNT, advanceTestClock } from '../../../domain/account/account.ts';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import type { Decision } from '../../../domain/kernel/decider.ts';
import type { DeliveryId, EndpointId } from '../../../domain/kernel/ids.ts';
import { addSeconds, fromMillis, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { requestRetry, WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
  WEBHOOK_ENDPOINT,
  type WebhookEndpointEvent,
  type WebhookEndpointState,
} from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import { systemRandomness, systemStopwatch } from '../../../infrastructure/system/system.ts';
import { type Core, newId, openCore, why } from '../../support/core.ts';
import { CREATED_AT } from '../../support/samples.ts';

const REFUSED: AttemptOutcome = {
  ok: false,
  statusCode: 500,
  error: 'status: 500',
  responseBody: null,
  retryAfterMs: null,
  durationMs: 1,
};
const TAKEN: AttemptOutcome = { ...REFUSED, ok: true, statusCode: 200, error: null };

describe('the delivery worker', () => {
  let core: Core;
  let sent: WebhookRequest[];
  let timers: Timer[];
  let told: string[];
  let outcome: AttemptOutcome;
  /** The time from which the table allows a first attempt, or null if it allows one now. */
  let turn: Timestamp | null;
  let failures: number;
  let worker: DeliveryWorker;
  let scheduled: Map<DeliveryId, ScheduledDelivery>;
  let begun: DeliveryId[];
  let deleted: DeliveryId[];
  /** Payloads of the jobs running now in any process. */
  let running: { readonly deliveryId: DeliveryId }[];
  /** How long the worker's stopwatch has run ahead, in milliseconds. */
  let aheadMs: number;
  /** Hooks that run before and during a request, and once while a timer is being set. */
  let onTurn: () => Promise<unknown>;
  let onSend: () => Promise<unknown>;
  let onTimer: () => Promise<unknown>;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    [sent, timers, told, outcome, turn, failures] = [[], [], [], REFUSED, null, 0];
    [scheduled, begun, deleted, running] = [new Map(), [], [], []];
    aheadMs = 0;
    onTurn = async () => undefined;
    onSend = async () => undefined;
    onTimer = async () => undefined;
    core.clock.nowMs = toMillis(CREATED_AT);
    const sender = {
      sendInTurn: async (...[requestOf, signal]: Parameters<WebhookSender['sendInTurn']>) => {
        await onTurn();
        signal?.throwIfAborted();
        const request = await requestOf();
        if (request === null) return null;
        sent.push(request);
        await onSend();
        return outcome;
      },
    } as unknown as WebhookSender;
    const targets: Omit<FailingTargets, 'forget'> = {
      failuresOf: async () => failures,
      failed: async ({ key, dueAt }) => {
        told.push(`${key} failed at ${dueAt}`);
        return ++failures;
      },
      hold: async ({ key }) => {
        told.push(`hold ${key}`);
        return turn;
      },
      recovered: async (_target, at) => void told.push(`recovered at ${at}`),
      failing: async () => new Map(),
      forgetOld: async () => undefined,
    };
    const { commands, accounts, clock } = core;
    worker = new DeliveryWorker({
      commands,
      accounts,
      clock,
      randomness: { ...systemRandomness, fraction: () => 0.5 },
      stopwatch: { ...systemStopwatch, elapsedMs: () => systemStopwatch.elapsedMs() + aheadMs },
      sender,
      secrets: {
        find: async (_id: string, version: number) => `secret ${version}`,
        keep: async () => undefined,
      } as unknown as WebhookSecrets,
      targets,
      timers: {
        set: async (timer) => {
          timers.push(timer);
          const changing = onTimer;
          onTimer = async () => undefined;
          await changing();
        },
      },
      messages: new StreamMessages(commands, AGGREGATES),
      jobs: { running: async () => [...running] as never },
      scheduled: {
        find: async (ids) => new Map([...scheduled].filter(([id]) => ids.includes(id))),
        begun: (id) => void begun.push(id),
      },
      isDeleted: async (id) => deleted.includes(id),
      checkpointHeader: async () => null,
    });
  });
  const T = (seconds: number) => addSeconds(CREATED_AT, seconds);
  const clockAt = (seconds: number) => {
    core.clock.nowMs = toMillis(T(seconds));
  };
  const target = () => `${core.account.accountId}/test/127.0.0.1:1`;
  /** Schedules a delivery as the fan-out does: charge.created of a new charge with its own URL. */
  const schedule = async (resend = 0, endpointId: EndpointId | null = null): Promise<DeliveryId> => {
    const paymentId = await core.openCharge({ webhookUrl: endpointId === null ? 'http://127.0.0.1:1/hook' : null });
    const eventType = 'charge.created';
    const { accountId } = core.account;
    const stream = PAYMENT.stream(paymentId);
    const eventId = eventIdOf(accountId, stream, 1, eventType);
    const deliveryId = deliveryIdOf(accountId, eventId, endpointId ?? 'webhookUrl', resend);
    const tenant = { accountId, mode: 'test' as const };
    const delivery = { stream, revision: 1, paymentId, eventType, endpointId, resend, scheduledAt: CREATED_AT };
    scheduled.set(deliveryId, { deliveryId, tenant, target: endpointId ?? target(), delivery });
    return deliveryId;
  };
  const run = (deliveryId: DeliveryId, dueAt?: Timestamp, isProbe = false, mayBeRepeat = false) =>
    worker.run([{ deliveryId, ...(dueAt && { dueAt }), ...(isProbe && { isProbe }) }], target(), mayBeRepeat);
  const attemptsOf = async (id: DeliveryId) =>
    (await core.eventsOf(WEBHOOK_DELIVERY.stream(id))).map(({ data }) => (data as { at: string }).at);

  it('attempts a delivery once if its job is repeated', async () => {
    const id = await schedule();
    for (const mayBeRepeat of [false, true]) await run(id, undefined, false, mayBeRepeat);
    expect([sent.length, await attemptsOf(id), told]).to.deep.equal([1, [T(0)], [`${id} failed at ${T(0)}`]]);
    clockAt(5);
    for (let n = 0; n < 2; n++) await run(id, T(5));
    expect([sent.length, await attemptsOf(id)]).to.deep.equal([2, [T(0), T(5)]]);
  });
  it('holds a first attempt while its target keeps failing, and sends it at its turn as a probe', async () => {
    [failures, turn] = [3, T(60)];
    const id = await schedule();
    await run(id);
    expect([sent, timers, told]).to.deep.equal([[], [], [`hold ${id}`]]); // The table sets the timer.
    clockAt(60);
    await run(id, T(60), true);
    expect([sent.length, told]).to.deep.equal([1, [`hold ${id}`, `${id} failed at ${T(60)}`]]);
  });
  it('holds a released first attempt again while its target keeps failing', async () => {
    [failures, turn] = [3, T(90)];
    const id = await schedule();
    clockAt(30);
    await run(id, T(30));
    expect([sent, told]).to.deep.equal([[], [`hold ${id}`]]);
    turn = null;
    await run(id, T(30));
    expect(await attemptsOf(id)).to.deep.equal([T(30)]);
  });
  it('sends a resend at once and records that the target recovered', async () => {
    [failures, turn, outcome] = [3, T(60), TAKEN];
    const id = await schedule(1);
    await run(id);
    expect([sent.length, told]).to.deep.equal([1, [`recovered at ${T(0)}`]]);
  });
  it('records nothing about a healthy target', async () => {
    outcome = TAKEN;
    for (let n = 0; n < 3; n++) await run(await schedule());
    expect([sent.length, told]).to.deep.equal([3, []]);
  });
  it('allows one early retry and then resets the timer each time', async () => {
    const id = await schedule();
    await run(id);
    clockAt(5);
    await run(id, T(5)); // next due at 35 s
    clockAt(10);
    await run(id, T(10)); // The target accepted a delivery. Next due at 130 s.
    expect([await attemptsOf(id), timers]).to.deep.equal([[T(0), T(5), T(10)], []]);
    clockAt(15);
    for (let n = 0; n < 2; n++) await run(id, T(15));
    expect(sent.length).to.equal(3);
    expect(timers.map(({ kind, key, dueAt, held }) => [kind, key, dueAt, held])).to.deep.equal(
      Array(2).fill(['deliver', id, T(130), undefined]),
    );
  });
  it('resets the timer if it fired for a time before the last attempt', async () => {
    const id = await schedule();
    clockAt(2);
    await run(id);
    await run(id, T(1));
    expect([sent.length, timers.map(({ dueAt }) => dueAt)]).to.deep.equal([1, [T(7)]]);
  });
  it('retries at once, if allowed, when all timers of the target are fired', async () => {
    const id = await schedule();
    await run(id);
    clockAt(1);
    await run(id, fromMillis(0));
    expect(await attemptsOf(id)).to.deep.equal([T(0), T(1)]);
  });
  it('sends and records nothing if the job of a completed delivery is repeated after an interruption', async () => {
    outcome = TAKEN;
    const id = await schedule();
    await run(id);
    for (const read of [undefined, T(0), T(60)]) await run(id, read, false, true);
    expect([sent.length, await attemptsOf(id)]).to.deep.equal([1, [T(0)]]);
    expect(new Set(begun)).to.deep.equal(new Set([id]));
  });
  it('does not resend a delivery that a restored backup lists as scheduled but that was already deleted', async () => {
    const [gone, other] = [await schedule(), await schedule()];
    deleted = [gone];
    for (const id of [gone, other]) await run(id, undefined, false, true);
    expect([sent.length, begun, await attemptsOf(gone)]).to.deep.equal([1, [gone, other], []]);
  });
  it('keeps the first outcome of two concurrent attempts', async () => {
    outcome = TAKEN;
    const id = await schedule();
    await Promise.all([run(id), run(id)]);
    expect(await attemptsOf(id)).to.deep.equal([T(0)]);
  });
  it('ignores an unknown delivery', async () => {
    const id = await schedule();
    scheduled.clear();
    for (const dueAt of [undefined, T(60)]) await run(id, dueAt);
    expect([sent, timers, told, begun]).to.deep.equal([[], [], [], []]);
  });
  it('sends the same body and sequence number at every attempt', async () => {
    const id = await schedule();
    await run(id);
    clockAt(5);
    scheduled.clear();
    await run(id, T(5));
    const [first, second] = sent;
    expect(second?.body).to.equal(first?.body);
    expect(JSON.parse(first?.body ?? '')).to.include({ object: 'event', type: 'charge.created' });
    expect(sent.map(({ headers }) => headers['x-acme-sequence'])).to.deep.equal(['1', '1']);
    expect(sent.map(({ headers }) => headers['x-acme-delivery-id'])).to.deep.equal([`wd_${id}`, `wd_${id}`]);
  });
  describe('with a manual retry', () => {
    const ask = async (id: DeliveryId, at: Timestamp) => {
      const { delivery, target } = scheduled.get(id)!;
      const decide = requestRetry({ delivery: { ...delivery, form: 1 }, target }, at);
      await core.commands.execute(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id), decide, why(core.account.accountId));
    };
    const outcomesOf = async (id: DeliveryId) =>
      (await core.eventsOf(WEBHOOK_DELIVERY.stream(id))).map(({ type }) => type.replace('WebhookDelivery', ''));

    it('sends it once, even if its target keeps failing and it was never attempted', async () => {
      [failures, turn] = [3, T(60)];
      const id = await schedule();
      await run(id); // The delivery is held.
      clockAt(10);
      await ask(id, T(10));
      for (const dueAt of [undefined, T(10)]) await run(id, dueAt); // The job of the first attempt arrives late.
      expect([sent.length, await outcomesOf(id)]).to.deep.equal([1, ['RetryRequested', 'AttemptFailed']]);
      expect(told).to.deep.equal([`hold ${id}`, `${id} failed at ${T(10)}`]);
    });
    it('waits for an attempt in progress instead of sending concurrently', async () => {
      const id = await schedule();
      await ask(id, T(0));
      running = [{ deliveryId: id }, { deliveryId: newId<DeliveryId>() }, { deliveryId: id }];
      await run(id, T(0));
      expect([sent, timers.map(({ key, dueAt }) => [key, dueAt])]).to.deep.equal([[], [[id, T(1)]]]);
      running.pop();
      clockAt(1);
      await run(id, T(1));
      expect([sent.length, await attemptsOf(id)]).to.deep.equal([1, [T(0), T(1)]]);
    });
  });
  it('fails a delivery that waits for other attempts when its job is given up, so that it is repeated', async () => {
    const id = await schedule();
    const ending = new AbortController();
    onTurn = async () => ending.abort(new Error('the process stops'));
    const failed = await worker.run([{ deliveryId: id }], target(), false, ending.signal).catch((error) => error);
    expect(failed.failures).to.deep.equal([{ payload: { deliveryId: id }, error: ending.signal.reason }]);
    expect([sent, told, await attemptsOf(id)]).to.deep.equal([[], [], []]);
  });
  describe('with an inactive endpoint (W6)', () => {
    const DAYS_7 = 7 * 24 * 3_600;
    const endpointId = () => newId<EndpointId>();
    const scheduleTo = (id: EndpointId): Promise<DeliveryId> => schedule(0, id);
    const decide = <Reply>(id: EndpointId, decision: Decision<WebhookEndpointState, WebhookEndpointEvent, Reply>) =>
      core.commands.execute(WEBHOOK_ENDPOINT, WEBHOOK_ENDPOINT.stream(id), decision, why(core.account.accountId));
    const owner = () => ({ accountId: core.account.accountId, mode: 'test' as const });
    const registered = async (): Promise<EndpointId> => {
      const id = endpointId();
      const url = 'http://127.0.0.1:1/hook';
      await decide(id, registerEndpoint({ endpointId: id, ...owner(), url, events: ['*'], secretVersion: 1 }, T(0)));
      return id;
    };
    /** Changes the endpoint in another process while a delivery waits for other attempts to end. */
    const duringWait = (id: EndpointId, decision: Decision<WebhookEndpointState, WebhookEndpointEvent, unknown>) => {
      onTurn = async () => {
        onTurn = async () => undefined;
        const stream = WEBHOOK_ENDPOINT.stream(id);
        await core.anotherProcess().execute(WEBHOOK_ENDPOINT, stream, decision, why(core.account.accountId));
        aheadMs += 101;
      };
    };
    const become = (id: EndpointId, status: 'active' | 'inactive', seconds: number) =>
      decide(id, changeEndpoint(owner(), { url: null, events: null, status }, T(seconds)));
    const runTo = (id: EndpointId, deliveryId: DeliveryId, dueAt?: Timestamp) =>
      worker.run([{ deliveryId, ...(dueAt && { dueAt }) }], id);
    /** Returns the cancellations in the delivery’s stream, and the types of its other events. */
    const cancellationsOf = async (id: DeliveryId) =>
      (await core.eventsOf(WEBHOOK_DELIVERY.stream(id))).map(({ type, data }) => {
        const { reason, at } = data as { reason: string; at: string };
        return type === 'WebhookDeliveryCancelled' ? { reason, at } : type;
      });
    const stateOf = async (id: DeliveryId) =>
      (await core.commands.load(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id))).state;

    it('holds the delivery whatever wakes it, and sends it once the endpoint is active', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await become(id, 'inactive', 10);
      clockAt(20);
      for (const dueAt of [undefined, T(20), fromMillis(0)]) await runTo(id, delivery, dueAt);
      expect([sent, told]).to.deep.equal([[], []]);
      const inGroup = (timer: Timer) => [timer.kind, timer.key, timer.group, timer.dueAt];
      expect(timers.map(inGroup)).to.deep.equal(Array(3).fill(['deliver', delivery, id, T(10 + DAYS_7)]));
      await become(id, 'active', 30);
      clockAt(30);
      outcome = TAKEN;
      await runTo(id, delivery, fromMillis(0));
      expect([sent.length, (await stateOf(delivery)).status]).to.deep.equal([1, 'delivered']);
    });
    it('keeps a failed attempt and makes the next one once the endpoint is active', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await runTo(id, delivery);
      await become(id, 'inactive', 1);
      clockAt(5);
      await runTo(id, delivery, T(5));
      expect([sent.length, timers.map(({ dueAt }) => dueAt)]).to.deep.equal([1, [T(1 + DAYS_7)]]);
      await become(id, 'active', 60);
      clockAt(60);
      await runTo(id, delivery, fromMillis(0));
      expect(await attemptsOf(delivery)).to.deep.equal([T(0), T(60)]);
    });
    it('cancels the delivery once, seven days after the endpoint became inactive', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await become(id, 'inactive', 10);
      clockAt(9 + DAYS_7);
      await runTo(id, delivery, T(9 + DAYS_7));
      expect((await stateOf(delivery)).status).to.equal('absent');
      clockAt(10 + DAYS_7);
      for (let n = 0; n < 2; n++) await runTo(id, delivery, T(10 + DAYS_7));
      expect(await cancellationsOf(delivery)).to.deep.equal([
        { reason: 'the endpoint was inactive for seven days', at: T(10 + DAYS_7) },
      ]);
      expect([sent, (await stateOf(delivery)).status]).to.deep.equal([[], 'cancelled']);
    });
    it('cancels the delivery if the endpoint is deleted, active or not', async () => {
      for (const status of ['active', 'inactive'] as const) {
        const id = await registered();
        const delivery = await scheduleTo(id);
        await become(id, status, 10);
        await decide(id, deleteEndpoint(owner(), T(20)));
        clockAt(20);
        await runTo(id, delivery, fromMillis(0));
        expect(await cancellationsOf(delivery)).to.deep.equal([{ reason: 'the endpoint was deleted', at: T(20) }]);
        expect((await stateOf(delivery)).status).to.equal('cancelled');
      }
      expect(sent).to.deep.equal([]);
    });
    it('makes the delivery due at once if the endpoint became active before the timer was set', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await become(id, 'inactive', 10);
      clockAt(20);
      onTimer = () => become(id, 'active', 20);
      await runTo(id, delivery, T(20));
      expect(timers.map(({ dueAt }) => dueAt)).to.deep.equal([T(10 + DAYS_7), fromMillis(0)]);
    });
    it('starts a new wait if the endpoint became active and inactive again before the timer was set', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await become(id, 'inactive', 10);
      clockAt(40);
      onTimer = async () => {
        await become(id, 'active', 20);
        await become(id, 'inactive', 30);
      };
      await runTo(id, delivery, T(40));
      await runTo(id, delivery, fromMillis(0));
      expect(timers.map(({ dueAt }) => dueAt)).to.deep.equal([T(10 + DAYS_7), fromMillis(0), T(30 + DAYS_7)]);
    });
    it('is followed by a delivery that waits for other attempts, although another process changed it', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      duringWait(id, changeEndpoint(owner(), { url: null, events: null, status: 'inactive' }, T(0)));
      await runTo(id, delivery);
      expect([sent, timers.map(({ dueAt }) => dueAt)]).to.deep.equal([[], [T(DAYS_7)]]);
      await become(id, 'active', 1);
      duringWait(id, changeEndpoint(owner(), { url: 'http://127.0.0.1:1/moved', events: null, status: null }, T(1)));
      await runTo(id, delivery);
      expect(sent.map(({ url }) => url)).to.deep.equal(['http://127.0.0.1:1/moved']);
    });
    it('signs a delivery when its wait for other attempts ends', async () => {
      const id = await registered();
      duringWait(id, rotateEndpointSecret(owner(), 2, T(0)));
      clockAt(0);
      const turn = onTurn;
      onTurn = async () => {
        await turn();
        clockAt(200);
      };
      const delivery = await scheduleTo(id);
      await runTo(id, delivery);
      const { body, headers } = sent[0]!;
      const eventId = headers['webhook-id']!;
      const expected = signatureHeaders({
        ...{ secret: 'secret 2', body, family: 'canonical', id: eventId, atMs: toMillis(T(200)) },
      });
      expect(headers).to.include(expected);
    });
    it('does not end the failures of a new URL by a success at the former one (W3)', async () => {
      const id = await registered();
      const [slow, failing] = [await scheduleTo(id), await scheduleTo(id)];
      const [began, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      onSend = () => {
        began.resolve();
        return silence.promise;
      };
      const attempt = runTo(id, slow);
      await began.promise;
      await decide(id, changeEndpoint(owner(), { url: 'http://127.0.0.1:1/moved', events: null, status: null }, T(1)));
      onSend = async () => undefined;
      clockAt(5);
      await runTo(id, failing);
      const failed = [...told];
      expect(failed).to.have.length(1);
      outcome = TAKEN;
      silence.resolve();
      await attempt;
      expect(told).to.deep.equal(failed);
    });
    it('does not count attempts at a former URL as failures of the new one (W3)', async () => {
      const id = await registered();
      const deliveries = [await scheduleTo(id), await scheduleTo(id), await scheduleTo(id)];
      const [allBegan, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      onSend = () => {
        if (sent.length === deliveries.length) allBegan.resolve();
        return silence.promise;
      };
      const attempts = deliveries.map((delivery) => runTo(id, delivery));
      await allBegan.promise;
      await decide(id, changeEndpoint(owner(), { url: 'http://127.0.0.1:1/moved', events: null, status: null }, T(1)));
      clockAt(30);
      silence.resolve();
      await Promise.all(attempts);
      expect(sent.map(({ url }) => url)).to.deep.equal(Array(3).fill('http://127.0.0.1:1/hook'));
      expect([await attemptsOf(deliveries[0]!), told]).to.deep.equal([[T(30)], []]);
      onSend = async () => undefined;
      clockAt(40);
      await runTo(id, deliveries[0]!, T(40));
      expect(told).to.deep.equal([`${deliveries[0]} failed at ${T(40)}`]);
    });
    it('does not cancel a delivery that fails while the endpoint becomes inactive', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      onSend = () => become(id, 'inactive', 1);
      await runTo(id, delivery);
      expect([sent.length, (await stateOf(delivery)).status, timers]).to.deep.equal([1, 'pending', []]);
    });
  });

  // This must run last, because the account’s clock stays ahead.
  describe('after the test clock was advanced', () => {
    it('uses the sender’s default timeout, and 5 s for a time that the test clock skipped', async () => {
      await run(await schedule());
      const { accountId } = core.account;
      await core.commands.execute(ACCOUNT, ACCOUNT.stream(accountId), advanceTestClock(3_600, T(0)), why(accountId));
      const id = await schedule();
      await run(id, T(60));
      expect(sent.map(({ deadlineMs }) => deadlineMs)).to.deep.equal([undefined, 5_000]);
      expect(await attemptsOf(id)).to.deep.equal([T(60)]);
    });
  });
});
