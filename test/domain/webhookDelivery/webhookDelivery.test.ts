import { expect } from 'chai';
import { addMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import {
  type AttemptResult,
  cancelDelivery,
  type Delivery,
  recordAttempt,
  scheduled,
  type WebhookDeliveryEvent,
  type WebhookDeliveryState,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { type Given, given } from '../../support/given.ts';
import { at } from '../../support/samples.ts';
import { deliveryOf, TARGET } from '../../world/deliveries.ts';

const HALF = 0.5; // without jitter
const START = at('13:00:00');
const delivery = deliveryOf({ scheduledAt: START });
/** The round in which every delivery starts. */
const FIRST = { earlierAttempts: 0, begunAt: START };
const OF = { delivery, target: TARGET };
/** Describes another message. The decisions use the delivery recorded in the stream instead. */
const OTHER = { delivery: { ...delivery, eventType: 'charge.expired', form: 2 }, target: TARGET };
const ok: AttemptResult = {
  ok: true,
  statusCode: 204,
  error: null,
  responseBody: null,
  durationMs: 12,
  retryAfterMs: null,
};
const bad: AttemptResult = {
  ok: false,
  statusCode: 500,
  error: 'status: 500',
  responseBody: 'oops',
  durationMs: 30,
  retryAfterMs: null,
};
/** `of` is null unless this is the first event of the stream. */
const attemptFailed = (
  number: number,
  when: Timestamp,
  nextAttemptAt: Timestamp | null,
  over: Partial<AttemptResult> = {},
  of: Delivery | null = number === 1 ? delivery : null,
): WebhookDeliveryEvent => {
  const { statusCode, error, responseBody, durationMs } = { ...bad, ...over };
  return {
    type: 'WebhookDeliveryAttemptFailed',
    data: {
      number,
      target: TARGET,
      at: when,
      statusCode,
      error: error as string,
      responseBody,
      durationMs,
      nextAttemptAt,
      delivery: of,
    },
  };
};
const succeeded = (number: number, when: Timestamp): WebhookDeliveryEvent => ({
  type: 'WebhookDeliverySucceeded',
  data: { number, at: when, statusCode: 204, durationMs: 12, delivery: number === 1 ? delivery : null },
});
const deadLettered = (when: Timestamp): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryDeadLettered',
  data: { at: when },
});
const cancelled = (of: Delivery | null): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryCancelled',
  data: { reason: 'the endpoint was deleted', at: at('13:01:00'), delivery: of },
});
const firstFailure = attemptFailed(1, START, at('13:00:05'));
const ENDS: readonly (readonly [string, readonly WebhookDeliveryEvent[]])[] = [
  ['delivered', [succeeded(1, START)]],
  ['delivered after a failure', [firstFailure, succeeded(2, at('13:00:05'))]],
  ['dead-lettered', [attemptFailed(1, START, null), deadLettered(START)]],
  ['cancelled', [cancelled(delivery)]],
];

describe('a scheduled delivery', () => {
  it('is pending and due at once without any event', () => {
    expect(scheduled(delivery, TARGET)).to.deep.equal({
      status: 'pending',
      delivery,
      round: FIRST,
      updatedAt: START,
      attempts: 0,
      lastStatusCode: null,
      lastError: null,
      lastResponseBody: null,
      target: TARGET,
      nextAttemptAt: START,
      isProbe: false,
    });
  });
  it('is recorded in the first event of its stream only', () => {
    const after = given(webhookDelivery)
      .when(recordAttempt(OF, 1, bad, START, HALF))
      .then(firstFailure, 'recorded')
      .and();
    expect(after.state).to.include({ status: 'pending', attempts: 1, delivery });
    const ended = after
      .when(recordAttempt(OTHER, 2, ok, at('13:00:05'), HALF))
      .then(succeeded(2, at('13:00:05')), 'recorded');
    expect(ended.and().state).to.include({ status: 'delivered', delivery });
  });
  it('is absent if the start of its stream was removed', () => {
    for (const remainder of [
      [succeeded(2, START)],
      [attemptFailed(2, START, at('13:00:35')), succeeded(3, at('13:00:35'))],
      [attemptFailed(15, START, null), deadLettered(START)],
      [deadLettered(START)],
      [cancelled(null)],
    ])
      expect(given(webhookDelivery, ...remainder).state).to.deep.equal({ status: 'absent' });
  });
});

describe('recordAttempt', () => {
  it('ends the delivery on a 2xx, once', () => {
    given(webhookDelivery)
      .when(recordAttempt(OF, 1, ok, START, HALF))
      .then(succeeded(1, START), 'recorded')
      .again('nothing');
  });
  it('schedules a retry after a failure, once', () => {
    given(webhookDelivery)
      .when(recordAttempt(OF, 1, bad, START, HALF))
      .then(firstFailure, 'recorded')
      .again('nothing');
  });
  it('keeps the first outcome when repeated with other content', () => {
    given(webhookDelivery, firstFailure)
      .when(recordAttempt(OF, 1, ok, START, HALF))
      .then('nothing');
  });
  it('ignores an attempt out of order', () =>
    given(webhookDelivery)
      .when(recordAttempt(OF, 2, ok, START, HALF))
      .then('nothing'));
  it('waits for the Retry-After', () => {
    given(webhookDelivery)
      .when(recordAttempt(OF, 1, { ...bad, statusCode: 429, retryAfterMs: 90_000 }, START, 0))
      .then(attemptFailed(1, START, at('13:01:30'), { statusCode: 429 }), 'recorded');
  });
  it('records a failure without a status code', () => {
    const dropped = { statusCode: null, error: 'connection: reset', responseBody: null };
    given(webhookDelivery)
      .when(recordAttempt(OF, 1, { ...bad, ...dropped }, START, HALF))
      .then(attemptFailed(1, START, at('13:00:05'), dropped), 'recorded');
  });
  it('clears the last error after a success', () => {
    const when = at('13:00:05');
    const after = given(webhookDelivery, firstFailure)
      .when(recordAttempt(OF, 2, ok, when, HALF))
      .then(succeeded(2, when), 'recorded')
      .and();
    expect(after.state).to.deep.equal({
      status: 'delivered',
      delivery,
      round: FIRST,
      updatedAt: when,
      attempts: 2,
      lastStatusCode: 204,
      lastError: null,
      lastResponseBody: null,
    });
  });

  it('schedules retries as in W3 and dead-letters the delivery after the fifteenth failure', () => {
    const seconds = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200];
    let story: Given<WebhookDeliveryState, WebhookDeliveryEvent> = given(webhookDelivery);
    let when = START;
    for (const [i, delay] of seconds.entries()) {
      const next = addMillis(when, delay * 1000);
      story = story
        .when(recordAttempt(OF, i + 1, bad, when, HALF))
        .then(attemptFailed(i + 1, when, next), 'recorded')
        .again('nothing')
        .and();
      when = next;
    }
    const end = story
      .when(recordAttempt(OF, 15, bad, when, HALF))
      .then(attemptFailed(15, when, null), deadLettered(when), 'recorded')
      .again('nothing');
    expect(end.and().state).to.deep.equal({
      status: 'deadLettered',
      delivery,
      round: FIRST,
      updatedAt: when,
      attempts: 15,
      lastStatusCode: 500,
      lastError: 'status: 500',
      lastResponseBody: 'oops',
    });
    end
      .and()
      .when(recordAttempt(OF, 16, ok, when, HALF))
      .then('nothing');
  });

  for (const [end, history] of ENDS)
    it(`ignores attempts after it was ${end}`, () => {
      given(webhookDelivery, ...history)
        .when(recordAttempt(OF, 1, ok, START, HALF))
        .then('nothing');
      given(webhookDelivery, ...history)
        .when(recordAttempt(OF, 2, bad, START, HALF))
        .then('nothing');
    });
});

describe('cancelDelivery', () => {
  const cancel = cancelDelivery(OF, 'the endpoint was deleted', at('13:01:00'));
  it('ends a pending delivery, once', () => {
    const after = given(webhookDelivery, firstFailure).when(cancel).then(cancelled(null), 'recorded').again('nothing');
    expect(after.and().state).to.deep.equal({
      status: 'cancelled',
      delivery,
      round: FIRST,
      updatedAt: at('13:01:00'),
      attempts: 1,
      lastStatusCode: 500,
      lastError: 'status: 500',
      lastResponseBody: 'oops',
    });
  });
  it('keeps the first reason when repeated with other content', () => {
    given(webhookDelivery, cancelled(delivery))
      .when(cancelDelivery(OF, 'other', at('14:00:00')))
      .then('nothing');
  });
  for (const [end, history] of ENDS)
    it(`ignores a delivery that was ${end}`, () =>
      given(webhookDelivery, ...history)
        .when(cancel)
        .then('nothing'));
  it('ends an untried delivery, once', () => {
    const after = given(webhookDelivery).when(cancel).then(cancelled(delivery), 'recorded').again('nothing');
    expect(after.and().state).to.deep.equal({
      status: 'cancelled',
      delivery,
      round: FIRST,
      updatedAt: at('13:01:00'),
      attempts: 0,
      lastStatusCode: null,
      lastError: null,
      lastResponseBody: null,
    });
  });
});
