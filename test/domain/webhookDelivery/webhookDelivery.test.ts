import { expect } from 'chai';
import type { DeliveryId, EndpointId, EventId } from '../../../domain/kernel/ids.ts';
import { addMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import {
  type AttemptResult,
  cancelDelivery,
  recordAttempt,
  scheduleDelivery,
  type WebhookDeliveryEvent,
  type WebhookDeliveryState,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { type Given, given } from '../../support/given.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

const HALF = 0.5; // no jitter
const ENDPOINT_ID = '00000000000000000000000003' as EndpointId;
const message = {
  deliveryId: '00000000000000000000000004' as DeliveryId,
  accountId: ACCOUNT_ID,
  mode: 'test' as const,
  endpointId: ENDPOINT_ID,
  url: null,
  eventId: '00000000000000000000000005' as EventId,
  eventType: 'charge.paid',
  family: 'canonical' as const,
  body: '{"a":1}',
};
const START = at('13:00:00');
const scheduled: WebhookDeliveryEvent = {
  type: 'WebhookDeliveryScheduled',
  data: { ...message, maxAttempts: 15, at: START },
};
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
const attemptFailed = (
  number: number,
  when: Timestamp,
  nextAttemptAt: Timestamp | null,
  over: Partial<AttemptResult> = {},
): WebhookDeliveryEvent => {
  const { statusCode, error, responseBody, durationMs } = { ...bad, ...over };
  return {
    type: 'WebhookDeliveryAttemptFailed',
    data: {
      number,
      target: ENDPOINT_ID,
      at: when,
      statusCode,
      error: error as string,
      responseBody,
      durationMs,
      nextAttemptAt,
    },
  };
};
const succeeded = (number: number, when: Timestamp): WebhookDeliveryEvent => ({
  type: 'WebhookDeliverySucceeded',
  data: { number, at: when, statusCode: 204, durationMs: 12 },
});
const deadLettered = (when: Timestamp): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryDeadLettered',
  data: { at: when },
});
const cancelled: WebhookDeliveryEvent = {
  type: 'WebhookDeliveryCancelled',
  data: { reason: 'the endpoint was deleted', at: at('13:01:00') },
};
const firstFailure = attemptFailed(1, START, at('13:00:05'));
const ENDS: readonly (readonly [string, readonly WebhookDeliveryEvent[]])[] = [
  ['delivered', [scheduled, succeeded(1, START)]],
  ['dead-lettered', [scheduled, attemptFailed(1, START, null), deadLettered(START)]],
  ['cancelled', [scheduled, cancelled]],
];

describe('scheduleDelivery', () => {
  it('freezes the payload, due at once, once', () => {
    const after = given(webhookDelivery)
      .when(scheduleDelivery(message, START))
      .then(scheduled, 'scheduled')
      .again('scheduled');
    expect(after.and().state).to.deep.equal({
      status: 'pending',
      delivery: { ...message, maxAttempts: 15 },
      createdAt: START,
      updatedAt: START,
      attempts: 0,
      lastStatusCode: null,
      lastError: null,
      lastResponseBody: null,
      nextAttemptAt: START,
    });
  });
  it('again with other content keeps the frozen payload', () => {
    given(webhookDelivery, scheduled)
      .when(scheduleDelivery({ ...message, body: '{"a":2}' }, at('14:00:00')))
      .then('scheduled');
  });
  for (const [end, history] of ENDS)
    it(`does not bring a ${end} one back`, () =>
      given(webhookDelivery, ...history)
        .when(scheduleDelivery(message, START))
        .then('scheduled'));
});

describe('recordAttempt', () => {
  it('a 2xx ends it, once', () => {
    given(webhookDelivery, scheduled)
      .when(recordAttempt(1, ok, START, HALF))
      .then(succeeded(1, START), 'recorded')
      .again('nothing');
  });
  it('a failure is tried again by the schedule, and told once', () => {
    given(webhookDelivery, scheduled)
      .when(recordAttempt(1, bad, START, HALF))
      .then(firstFailure, 'recorded')
      .again('nothing');
  });
  it('again with other content: the first outcome stands', () => {
    given(webhookDelivery, scheduled, firstFailure)
      .when(recordAttempt(1, ok, START, HALF))
      .then('nothing');
  });
  it('out of turn is nothing', () =>
    given(webhookDelivery, scheduled)
      .when(recordAttempt(2, ok, START, HALF))
      .then('nothing'));
  it('takes the Retry-After', () => {
    given(webhookDelivery, scheduled)
      .when(recordAttempt(1, { ...bad, statusCode: 429, retryAfterMs: 90_000 }, START, 0))
      .then(attemptFailed(1, START, at('13:01:30'), { statusCode: 429 }), 'recorded');
  });
  it('without a status line has none', () => {
    const dropped = { statusCode: null, error: 'connection: reset', responseBody: null };
    given(webhookDelivery, scheduled)
      .when(recordAttempt(1, { ...bad, ...dropped }, START, HALF))
      .then(attemptFailed(1, START, at('13:00:05'), dropped), 'recorded');
  });
  it('a success after failures forgets the last error', () => {
    const when = at('13:00:05');
    const after = given(webhookDelivery, scheduled, firstFailure)
      .when(recordAttempt(2, ok, when, HALF))
      .then(succeeded(2, when), 'recorded')
      .and();
    expect(after.state).to.deep.equal({
      status: 'delivered',
      delivery: { ...message, maxAttempts: 15 },
      createdAt: START,
      updatedAt: when,
      attempts: 2,
      lastStatusCode: 204,
      lastError: null,
      lastResponseBody: null,
      deliveredAt: when,
    });
  });

  it('fails fifteen times by the schedule of W3, then it is dead-lettered', () => {
    const seconds = [5, 30, 120, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 28_800, 43_200, 43_200, 43_200];
    let story: Given<WebhookDeliveryState, WebhookDeliveryEvent> = given(webhookDelivery, scheduled);
    let when = START;
    for (const [i, delay] of seconds.entries()) {
      const next = addMillis(when, delay * 1000);
      story = story
        .when(recordAttempt(i + 1, bad, when, HALF))
        .then(attemptFailed(i + 1, when, next), 'recorded')
        .again('nothing')
        .and();
      when = next;
    }
    const end = story
      .when(recordAttempt(15, bad, when, HALF))
      .then(attemptFailed(15, when, null), deadLettered(when), 'recorded')
      .again('nothing');
    expect(end.and().state).to.deep.equal({
      status: 'deadLettered',
      delivery: { ...message, maxAttempts: 15 },
      createdAt: START,
      updatedAt: when,
      attempts: 15,
      lastStatusCode: 500,
      lastError: 'status: 500',
      lastResponseBody: 'oops',
    });
    end
      .and()
      .when(recordAttempt(16, ok, when, HALF))
      .then('nothing');
  });

  for (const [end, history] of ENDS)
    it(`after it was ${end} is nothing`, () => {
      given(webhookDelivery, ...history)
        .when(recordAttempt(1, ok, START, HALF))
        .then('nothing');
      given(webhookDelivery, ...history)
        .when(recordAttempt(2, bad, START, HALF))
        .then('nothing');
    });
  it('of one that was never scheduled is nothing', () =>
    given(webhookDelivery)
      .when(recordAttempt(1, ok, START, HALF))
      .then('nothing'));
});

describe('cancelDelivery', () => {
  const cancel = cancelDelivery('the endpoint was deleted', at('13:01:00'));
  it('ends a pending one, once', () => {
    const after = given(webhookDelivery, scheduled, firstFailure)
      .when(cancel)
      .then(cancelled, 'recorded')
      .again('nothing');
    expect(after.and().state).to.deep.equal({
      status: 'cancelled',
      delivery: { ...message, maxAttempts: 15 },
      createdAt: START,
      updatedAt: at('13:01:00'),
      attempts: 1,
      lastStatusCode: 500,
      lastError: 'status: 500',
      lastResponseBody: 'oops',
      reason: 'the endpoint was deleted',
    });
  });
  it('again with other content keeps the first reason', () => {
    given(webhookDelivery, scheduled, cancelled)
      .when(cancelDelivery('other', at('14:00:00')))
      .then('nothing');
  });
  for (const [end, history] of ENDS)
    it(`after it was ${end} is nothing`, () =>
      given(webhookDelivery, ...history)
        .when(cancel)
        .then('nothing'));
  it('of one that was never scheduled is nothing', () => given(webhookDelivery).when(cancel).then('nothing'));
});
