// What one job of a delivery does with what it is told, and when it is told twice, late, or after a crash (rules W3, W4; architecture §7).
import { expect } from 'chai';
import { deliveryIdOf, eventIdOf } from '../../../application/core/derivedIds.ts';
import type { FailingTargets } from '../../../application/ports/failingTargets.ts';
import type { ScheduledDelivery } from '../../../application/ports/scheduledDeliveries.ts';
import type { WebhookSecrets } from '../../../application/ports/secrets.ts';
import type { Timer } from '../../../application/ports/timers.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../../application/ports/webhookSender.ts';
import { StreamMessages } from '../../../application/webhooks/streamMessages.ts';
import { DeliveryWorker } from '../../../application/webhooks/webhookDelivery.ts';
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

describe('the worker of deliveries', () => {
  let core: Core;
  let sent: WebhookRequest[];
  let timers: Timer[];
  let told: string[];
  let outcome: AttemptOutcome;
  /** As the table would say: when a first attempt may go. */
  let turn: Timestamp | null;
  let failures: number;
  let worker: DeliveryWorker;
  let scheduled: Map<DeliveryId, ScheduledDelivery>;
  let begun: DeliveryId[];
  let deleted: DeliveryId[];
  /** Payloads of the jobs that run now, in any process. */
  let running: { readonly deliveryId: DeliveryId }[];
  /** What happens during a request, and once before a timer is known to be set. */
  let onSend: () => Promise<unknown>;
  let onTimer: () => Promise<unknown>;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    [sent, timers, told, outcome, turn, failures] = [[], [], [], REFUSED, null, 0];
    [scheduled, begun, deleted, running] = [new Map(), [], [], []];
    onSend = async () => undefined;
    onTimer = async () => undefined;
    core.clock.nowMs = toMillis(CREATED_AT);
    const sender = {
      send: async (request: WebhookRequest) => {
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
      stopwatch: systemStopwatch,
      sender,
      secrets: { find: async () => 'secret', keep: async () => undefined } as unknown as WebhookSecrets,
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
  /** As the fan-out does: the message charge.created of a new charge with a URL of its own. */
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

  it('attempts once what it is told twice', async () => {
    const id = await schedule();
    for (const mayBeRepeat of [false, true]) await run(id, undefined, false, mayBeRepeat);
    expect([sent.length, await attemptsOf(id), told]).to.deep.equal([1, [T(0)], [`${id} failed at ${T(0)}`]]);
    clockAt(5);
    for (let n = 0; n < 2; n++) await run(id, T(5));
    expect([sent.length, await attemptsOf(id)]).to.deep.equal([2, [T(0), T(5)]]);
  });
  it('holds a first attempt back while its target keeps failing, and sends it when its turn has come, without asking', async () => {
    [failures, turn] = [3, T(60)];
    const id = await schedule();
    await run(id);
    expect([sent, timers, told]).to.deep.equal([[], [], [`hold ${id}`]]); // its timer is set by the table
    clockAt(60);
    await run(id, T(60), true);
    expect([sent.length, told]).to.deep.equal([1, [`hold ${id}`, `${id} failed at ${T(60)}`]]);
  });
  it('asks again for one that was let go, and finds the target failing again', async () => {
    [failures, turn] = [3, T(90)];
    const id = await schedule();
    clockAt(30);
    await run(id, T(30));
    expect([sent, told]).to.deep.equal([[], [`hold ${id}`]]);
    turn = null;
    await run(id, T(30));
    expect(await attemptsOf(id)).to.deep.equal([T(30)]);
  });
  it('sends a resend at once, and tells that the target took it', async () => {
    [failures, turn, outcome] = [3, T(60), TAKEN];
    const id = await schedule(1);
    await run(id);
    expect([sent.length, told]).to.deep.equal([1, [`recovered at ${T(0)}`]]);
  });
  it('tells nothing of a target that is well', async () => {
    outcome = TAKEN;
    for (let n = 0; n < 3; n++) await run(await schedule());
    expect([sent.length, told]).to.deep.equal([3, []]);
  });
  it('lets a retry come before its time once, then sets its timer again, and again', async () => {
    const id = await schedule();
    await run(id);
    clockAt(5);
    await run(id, T(5)); // due next at 35 s
    clockAt(10);
    await run(id, T(10)); // its target took something: due next at 130 s
    expect([await attemptsOf(id), timers]).to.deep.equal([[T(0), T(5), T(10)], []]);
    clockAt(15);
    for (let n = 0; n < 2; n++) await run(id, T(15));
    expect(sent.length).to.equal(3);
    expect(timers.map(({ kind, key, dueAt, held }) => [kind, key, dueAt, held])).to.deep.equal(
      Array(2).fill(['deliver', id, T(130), undefined]),
    );
  });
  it('sets the timer again of one that was fired early, at an instant before its last attempt', async () => {
    const id = await schedule();
    clockAt(2);
    await run(id);
    await run(id, T(1));
    expect([sent.length, timers.map(({ dueAt }) => dueAt)]).to.deep.equal([1, [T(7)]]);
  });
  it('all timers of the target fired now: at once, as far as it may', async () => {
    const id = await schedule();
    await run(id);
    clockAt(1);
    await run(id, fromMillis(0));
    expect(await attemptsOf(id)).to.deep.equal([T(0), T(1)]);
  });
  it('sends nothing again, and records nothing, when a job that was cut off comes again', async () => {
    outcome = TAKEN;
    const id = await schedule();
    await run(id);
    for (const read of [undefined, T(0), T(60)]) await run(id, read, false, true);
    expect([sent.length, await attemptsOf(id)]).to.deep.equal([1, [T(0)]]);
    expect(new Set(begun)).to.deep.equal(new Set([id]));
  });
  it('does not send again what a backup knows as scheduled, but was sent and deleted since', async () => {
    const [gone, other] = [await schedule(), await schedule()];
    deleted = [gone];
    for (const id of [gone, other]) await run(id, undefined, false, true);
    expect([sent.length, begun, await attemptsOf(gone)]).to.deep.equal([1, [gone, other], []]);
  });
  it('keeps the first outcome when two attempt the same at once', async () => {
    outcome = TAKEN;
    const id = await schedule();
    await Promise.all([run(id), run(id)]);
    expect(await attemptsOf(id)).to.deep.equal([T(0)]);
  });
  it('does nothing about one of which nothing is known', async () => {
    const id = await schedule();
    scheduled.clear();
    for (const dueAt of [undefined, T(60)]) await run(id, dueAt);
    expect([sent, timers, told, begun]).to.deep.equal([[], [], [], []]);
  });
  it('sends the same body and number on every attempt, with the number of the message among those of its payment', async () => {
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
  describe('that was asked for by hand', () => {
    const ask = async (id: DeliveryId, at: Timestamp) => {
      const { delivery, target } = scheduled.get(id)!;
      const decide = requestRetry({ delivery: { ...delivery, form: 1 }, target }, at);
      await core.commands.execute(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id), decide, why(core.account.accountId));
    };
    const outcomesOf = async (id: DeliveryId) =>
      (await core.eventsOf(WEBHOOK_DELIVERY.stream(id))).map(({ type }) => type.replace('WebhookDelivery', ''));

    it('goes although its target keeps failing, once, also when it was never tried', async () => {
      [failures, turn] = [3, T(60)];
      const id = await schedule();
      await run(id); // held back
      clockAt(10);
      await ask(id, T(10));
      for (const dueAt of [undefined, T(10)]) await run(id, dueAt); // the job of its first attempt comes late
      expect([sent.length, await outcomesOf(id)]).to.deep.equal([1, ['RetryRequested', 'AttemptFailed']]);
      expect(told).to.deep.equal([`hold ${id}`, `${id} failed at ${T(10)}`]);
    });
    it('waits for an attempt of it that is being made, and is not made beside it', async () => {
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
  describe('whose endpoint is inactive (W6)', () => {
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
    const become = (id: EndpointId, status: 'active' | 'inactive', seconds: number) =>
      decide(id, changeEndpoint(owner(), { url: null, events: null, status }, T(seconds)));
    const runTo = (id: EndpointId, deliveryId: DeliveryId, dueAt?: Timestamp) =>
      worker.run([{ deliveryId, ...(dueAt && { dueAt }) }], id);
    /** The whole of its stream. */
    const cancellationsOf = async (id: DeliveryId) =>
      (await core.eventsOf(WEBHOOK_DELIVERY.stream(id))).map(({ type, data }) => {
        const { reason, at } = data as { reason: string; at: string };
        return type === 'WebhookDeliveryCancelled' ? { reason, at } : type;
      });
    const stateOf = async (id: DeliveryId) =>
      (await core.commands.load(WEBHOOK_DELIVERY, WEBHOOK_DELIVERY.stream(id))).state;

    it('waits for it, whatever wakes it, and goes once it is active', async () => {
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
    it('keeps a failed attempt, and makes the next one only when it is active', async () => {
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
    it('is cancelled seven days after it became inactive, not before, and once', async () => {
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
    it('is cancelled when the endpoint is deleted, inactive or not', async () => {
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
    it('goes at once where the endpoint became active before the timer was set', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      await become(id, 'inactive', 10);
      clockAt(20);
      onTimer = () => become(id, 'active', 20);
      await runTo(id, delivery, T(20));
      expect(timers.map(({ dueAt }) => dueAt)).to.deep.equal([T(10 + DAYS_7), fromMillis(0)]);
    });
    it('waits anew where the endpoint became active and inactive again before the timer was set', async () => {
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
    it('does not cancel what fails while the endpoint becomes inactive', async () => {
      const id = await registered();
      const delivery = await scheduleTo(id);
      onSend = () => become(id, 'inactive', 1);
      await runTo(id, delivery);
      expect([sent.length, (await stateOf(delivery)).status, timers]).to.deep.equal([1, 'pending', []]);
    });
  });

  // Last: the account's clock stays where it was moved to.
  describe('after the test clock was moved', () => {
    it('tries 30 s long, as the sender does, and 5 s at an instant that the test clock was moved over', async () => {
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
