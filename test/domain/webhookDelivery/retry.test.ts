// Retries of a delivery on request: of a single delivery, and as part of a re-drive (rules W3, W8).
import { expect } from 'chai';
import { addMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import {
  type AttemptResult,
  cancelDelivery,
  type Delivery,
  isHoldable,
  maxAttemptsOf,
  mayComeEarly,
  type PendingDelivery,
  recordAttempt,
  redriveDelivery,
  requestRetry,
  scheduled,
  type WebhookDeliveryEvent,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { given } from '../../support/given.ts';
import { at } from '../../support/samples.ts';
import { deliveryOf, REFUSED, TAKEN, TARGET } from '../../world/deliveries.ts';

const HALF = 0.5; // without jitter
const START = at('13:00:00');
const LATER = at('14:00:00');
const delivery = deliveryOf({ scheduledAt: START });
const OF = { delivery, target: TARGET };
/** Returns the events that these attempts record in order. */
const story = (...results: readonly (readonly [AttemptResult, Timestamp])[]): WebhookDeliveryEvent[] => {
  const events: WebhookDeliveryEvent[] = [];
  for (const [n, [result, when]] of results.entries()) {
    const { state } = given(webhookDelivery, ...events);
    const decided = recordAttempt(OF, n + 1, result, when, HALF)(state);
    if ('events' in decided) events.push(...decided.events);
  }
  return events;
};
const FAILED_ONCE = story([REFUSED, START]); // due again at 13:00:05
const DELIVERED = story([TAKEN, START]);
const DEAD = story(...Array.from({ length: 15 }, () => [REFUSED, START] as const));
const CANCELLED: WebhookDeliveryEvent[] = [
  { type: 'WebhookDeliveryCancelled', data: { reason: 'the endpoint was deleted', at: START, delivery } },
];
const asked = (when: Timestamp, isProbe = true, of: Delivery | null = null): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryRetryRequested',
  data: { target: TARGET, isProbe, at: when, delivery: of },
});
const pendingAfter = (...events: WebhookDeliveryEvent[]) => given(webhookDelivery, ...events).state as PendingDelivery;

describe('a manual retry', () => {
  const ask = (when: Timestamp) => requestRetry(OF, when);
  const soon = at('13:00:02');

  for (const [name, history, attempts, earlierAttempts] of [
    ['delivered', DELIVERED, 1, 1],
    ['dead-lettered', DEAD, 15, 15],
    ['cancelled', CANCELLED, 0, 0],
  ] as const)
    it(`of a delivery that was ${name} starts a new round, once`, () => {
      const after = given(webhookDelivery, ...history)
        .when(ask(LATER))
        .then(asked(LATER), 'requested')
        .again('nothing')
        .and();
      expect(after.state).to.deep.include({
        status: 'pending',
        delivery,
        target: TARGET,
        attempts,
        round: { earlierAttempts, begunAt: LATER },
        updatedAt: LATER,
        nextAttemptAt: LATER,
        isProbe: true,
      });
      after.when(ask(at('14:00:01'))).then('nothing'); // The delivery is already due.
    });

  it('of a delivery that waits for its next attempt makes it due now, once, in the same round', () => {
    const after = given(webhookDelivery, ...FAILED_ONCE)
      .when(ask(soon))
      .then(asked(soon), 'requested')
      .again('nothing');
    expect(after.and().state).to.deep.include({
      status: 'pending',
      attempts: 1,
      round: { earlierAttempts: 0, begunAt: START },
      nextAttemptAt: soon,
      isProbe: true,
      lastError: 'status: 500',
    });
  });
  it('of a delivery whose attempt is due or running does nothing', () => {
    given(webhookDelivery, ...FAILED_ONCE)
      .when(ask(at('13:00:05')))
      .then('nothing');
    given(webhookDelivery, ...FAILED_ONCE)
      .when(ask(LATER))
      .then('nothing');
  });
  it('of an untried delivery starts its stream and lifts any hold; an untried resend is left as it is', () => {
    const after = given(webhookDelivery)
      .when(ask(soon))
      .then(asked(soon, true, delivery), 'requested')
      .again('nothing');
    expect(after.and().state).to.deep.equal({
      ...scheduled(delivery, TARGET),
      updatedAt: soon,
      nextAttemptAt: soon,
      isProbe: true,
    });
    expect(isHoldable(after.and().state as PendingDelivery)).to.equal(false);
    const resend = { ...OF, delivery: { ...delivery, resend: 1 } };
    given(webhookDelivery).when(requestRetry(resend, soon)).then('nothing');
  });
  it('of a delivery held after a re-drive sends it', () => {
    const held = [...DEAD, asked(LATER, false)];
    expect(isHoldable(pendingAfter(...held))).to.equal(true);
    const now = at('14:05:00');
    given(webhookDelivery, ...held)
      .when(ask(now))
      .then(asked(now), 'requested')
      .again('nothing');
  });
  it('can be requested again after its attempt failed', () => {
    const history = [...FAILED_ONCE, asked(soon)];
    const failed = given(webhookDelivery, ...history)
      .when(recordAttempt(OF, 2, REFUSED, soon, HALF))
      .then(
        {
          type: 'WebhookDeliveryAttemptFailed',
          data: {
            number: 2,
            target: TARGET,
            at: soon,
            statusCode: 500,
            error: 'status: 500',
            responseBody: null,
            durationMs: 1,
            nextAttemptAt: at('13:00:32'),
            delivery: null,
          },
        },
        'recorded',
      )
      .and();
    expect(failed.state).to.include({ isProbe: false });
    failed.when(ask(at('13:00:10'))).then(asked(at('13:00:10')), 'requested');
  });
  it('is not followed by earlier events if an attempt ended or the endpoint was deleted before it (X5)', () => {
    const { state } = given(webhookDelivery, asked(LATER, true, delivery));
    const stateAfter = (decided: ReturnType<ReturnType<typeof recordAttempt>>) =>
      given(webhookDelivery, asked(LATER, true, delivery), ...('events' in decided ? decided.events : [])).state;
    const failed = stateAfter(recordAttempt(OF, 1, REFUSED, START, HALF)(state));
    expect(failed).to.deep.include({ attempts: 1, updatedAt: LATER, nextAttemptAt: at('14:00:05') });
    const cancelled = stateAfter(cancelDelivery(OF, 'gone', START)(state));
    expect(cancelled).to.deep.include({ status: 'cancelled', updatedAt: LATER });
  });

  it('is ignored if the start of the stream was removed', () => {
    expect(given(webhookDelivery, asked(LATER)).state).to.deep.equal({ status: 'absent' });
  });
});

describe('a new round', () => {
  it('has 15 more attempts on the schedule and is then dead-lettered', () => {
    const history = [...DEAD, asked(LATER)];
    let after = given(webhookDelivery, ...history);
    let when = LATER;
    const delays: number[] = [];
    for (let number = 16; number <= 30; number++) {
      expect(maxAttemptsOf(after.state as PendingDelivery)).to.equal(30);
      const decided = recordAttempt(OF, number, REFUSED, when, HALF)(after.state);
      if (!('events' in decided)) throw new Error('refused');
      history.push(...(decided.events as WebhookDeliveryEvent[]));
      after = given(webhookDelivery, ...history);
      const events = decided.events as WebhookDeliveryEvent[];
      const failed = events[0]!;
      if (failed.type !== 'WebhookDeliveryAttemptFailed') throw new Error(failed.type);
      expect(failed.data.number).to.equal(number);
      if (number < 30) {
        delays.push((Date.parse(failed.data.nextAttemptAt!) - Date.parse(when)) / 1_000);
        when = failed.data.nextAttemptAt!;
        continue;
      }
      expect(events.map(({ type }) => type)).to.deep.equal([
        'WebhookDeliveryAttemptFailed',
        'WebhookDeliveryDeadLettered',
      ]);
    }
    expect(delays).to.deep.equal([
      5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200,
    ]);
    expect(after.state).to.include({ status: 'deadLettered', attempts: 30 });
  });
  it('can succeed or be cancelled', () => {
    const history = [...DEAD, asked(LATER)];
    const end = given(webhookDelivery, ...history).when(recordAttempt(OF, 16, TAKEN, LATER, HALF));
    end.then(
      {
        type: 'WebhookDeliverySucceeded',
        data: { number: 16, at: LATER, statusCode: 200, durationMs: 1, delivery: null },
      },
      'recorded',
    );
    given(webhookDelivery, ...history)
      .when(cancelDelivery(OF, 'gone', LATER))
      .then({ type: 'WebhookDeliveryCancelled', data: { reason: 'gone', at: LATER, delivery: null } }, 'recorded')
      .again('nothing');
  });
  it('allows an early retry by one step of its own schedule, not of the first round’s', () => {
    const number = (n: number, when: Timestamp): WebhookDeliveryEvent[] => {
      const decided = recordAttempt(OF, n, REFUSED, when, HALF)(pendingAfter(...history));
      return 'events' in decided ? [...decided.events] : [];
    };
    const history = [...DEAD, asked(LATER)];
    history.push(...number(16, LATER)); // due at 14:00:05
    expect(mayComeEarly(pendingAfter(...history), addMillis(LATER, 1_000))).to.equal(true);
    history.push(...number(17, addMillis(LATER, 1_000))); // due at 14:00:31
    expect(mayComeEarly(pendingAfter(...history), addMillis(LATER, 2_000))).to.equal(false);
    expect(mayComeEarly(pendingAfter(...history), addMillis(LATER, 5_000))).to.equal(true);
  });
});

describe('a re-drive', () => {
  const redrive = (isProbe = false, askedAt = LATER, when = LATER) => redriveDelivery(TARGET, isProbe, askedAt, when);

  it('requests a dead-lettered delivery once, and the first one of a target as a probe', () => {
    given(webhookDelivery, ...DEAD)
      .when(redrive(true))
      .then(asked(LATER), 'requested')
      .again('nothing');
    const held = given(webhookDelivery, ...DEAD)
      .when(redrive())
      .then(asked(LATER, false), 'requested')
      .again('nothing');
    expect(isHoldable(held.and().state as PendingDelivery)).to.equal(true);
    held
      .and()
      .when(redrive(true, at('15:00:00'), at('15:00:00')))
      .then('nothing'); // This request belongs to another re-drive.
  });
  it('requests a delivery that was dead-lettered again only for a newer re-drive', () => {
    const again: WebhookDeliveryEvent = { type: 'WebhookDeliveryDeadLettered', data: { at: at('18:00:00') } };
    const history = [...DEAD, asked(LATER, false), again];
    given(webhookDelivery, ...history)
      .when(redrive(false, LATER, at('19:00:00')))
      .then('nothing');
    const now = at('19:00:00');
    given(webhookDelivery, ...history)
      .when(redrive(false, now, now))
      .then(asked(now, false), 'requested');
  });
  for (const [name, history] of [
    ['delivered', DELIVERED],
    ['cancelled', CANCELLED],
    ['pending', FAILED_ONCE],
    ['not yet attempted', []],
  ] as const)
    it(`ignores a delivery that is ${name}`, () => {
      given(webhookDelivery, ...history)
        .when(redrive())
        .then('nothing');
    });
});
