// What one job of a delivery does with what it is told, and when it is told twice, late, or after a crash (rules W3, W4; architecture §7).

import { expect } from 'chai';
import { ACCOUNT, WEBHOOK_DELIVERY } from '../../../application/core/aggregates.ts';
import { deliveryIdOf } from '../../../application/core/derivedIds.ts';
import type { FailingTargets } from '../../../application/ports/failingTargets.ts';
import type { WebhookSecrets } from '../../../application/ports/secrets.ts';
import type { Timer } from '../../../application/ports/timers.ts';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../../application/ports/webhookSender.ts';
import { DeliveryWorker } from '../../../application/webhooks/webhookDelivery.ts';
import { advanceTestClock } from '../../../domain/account/account.ts';
import { streamName } from '../../../domain/kernel/event.ts';
import type { DeliveryId, EventId } from '../../../domain/kernel/ids.ts';
import { addSeconds, fromMillis, type Timestamp, toMillis } from '../../../domain/kernel/time.ts';
import { scheduleDelivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { systemRandomness } from '../../../infrastructure/system/randomness.ts';
import { systemStopwatch } from '../../../infrastructure/system/stopwatch.ts';
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
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    [sent, timers, told, outcome, turn, failures] = [[], [], [], REFUSED, null, 0];
    core.clock.nowMs = toMillis(CREATED_AT);
    const sender = {
      send: async (request: WebhookRequest) => {
        sent.push(request);
        return outcome;
      },
    } as unknown as WebhookSender;
    const targets: FailingTargets = {
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
      timers: { set: async (timer) => void timers.push(timer) },
    });
  });
  const T = (seconds: number) => addSeconds(CREATED_AT, seconds);
  const clockAt = (seconds: number) => {
    core.clock.nowMs = toMillis(T(seconds));
  };
  const schedule = async (resend = 0): Promise<DeliveryId> => {
    const eventId = newId<EventId>();
    const { accountId } = core.account;
    const delivery = {
      deliveryId: deliveryIdOf(eventId, 'webhookUrl', resend),
      accountId,
      mode: 'test' as const,
      endpointId: null,
      url: 'http://127.0.0.1:1/hook',
      eventId,
      eventType: 'charge.paid',
      family: 'canonical' as const,
      body: '{}',
    };
    const stream = streamName.webhookDelivery(delivery.deliveryId);
    await core.commands.execute(WEBHOOK_DELIVERY, stream, scheduleDelivery(delivery, CREATED_AT), why(accountId));
    return delivery.deliveryId;
  };
  const run = (deliveryId: DeliveryId, dueAt?: Timestamp, isProbe = false) =>
    worker.run(
      [{ deliveryId, ...(dueAt && { dueAt }), ...(isProbe && { isProbe }) }],
      `${core.account.accountId}/test/127.0.0.1:1`,
    );
  const attemptsOf = async (id: DeliveryId) =>
    (await core.eventsOf(streamName.webhookDelivery(id))).slice(1).map(({ data }) => (data as { at: string }).at);

  it('attempts once what it is told twice', async () => {
    const id = await schedule();
    for (let n = 0; n < 2; n++) await run(id);
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
  it('tries 30 s long, as the sender does, and 5 s at an instant that the test clock was moved over', async () => {
    await run(await schedule());
    const { accountId } = core.account;
    await core.commands.execute(ACCOUNT, streamName.account(accountId), advanceTestClock(3_600, T(0)), why(accountId));
    const id = await schedule();
    await run(id, T(60));
    expect(sent.map(({ deadlineMs }) => deadlineMs)).to.deep.equal([undefined, 5_000]);
    expect(await attemptsOf(id)).to.deep.equal([T(60)]);
  });
});
