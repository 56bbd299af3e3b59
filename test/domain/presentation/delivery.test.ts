import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { DeliveryId, EndpointId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryNow,
  deliveryView,
  type ExistingDelivery,
} from '../../../domain/presentation/delivery.ts';
import {
  type Delivery,
  scheduled,
  type WebhookDeliveryEvent,
  webhookDelivery,
} from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { ACCOUNT_ID, at, PAYMENT_ID } from '../../support/samples.ts';

const endpointId = '00000000000000000000000003' as EndpointId;
const deliveryId = '00000000000000000000000004' as DeliveryId;
const delivery: Delivery = {
  stream: PAYMENT.stream(PAYMENT_ID),
  revision: 1,
  paymentId: PAYMENT_ID,
  eventType: 'charge.paid',
  endpointId,
  resend: 0,
  scheduledAt: at('13:00:00'),
  form: 1,
};
const BODY = '{"z":1,"a":{"y":[2]}}';
const untried = scheduled(delivery, endpointId);
const attempt = (responseBody: string | null): WebhookDeliveryEvent => ({
  type: 'WebhookDeliveryAttemptFailed',
  data: {
    number: 1,
    target: endpointId,
    at: at('13:00:01'),
    statusCode: 500,
    error: 'status: 500',
    responseBody,
    durationMs: 9,
    nextAttemptAt: at('13:00:06'),
    delivery,
  },
});
const delivered: WebhookDeliveryEvent = {
  type: 'WebhookDeliverySucceeded',
  data: { number: 2, at: at('13:00:06'), statusCode: 204, durationMs: 3, delivery: null },
};
const stateAfter = (...events: WebhookDeliveryEvent[]) => fold(webhookDelivery, events) as ExistingDelivery;
const viewOf = (state: ExistingDelivery) =>
  deliveryView(deliveryId, state, { isUnderWay: false, isPaused: false, dueAt: null }, BODY, at('13:00:00'));
const viewAfter = (...events: WebhookDeliveryEvent[]) => viewOf(stateAfter(...events));

const pending = {
  id: 'wd_00000000000000000000000004',
  endpointId: 'we_00000000000000000000000003',
  eventType: 'charge.paid',
  status: 'PENDING',
  attempts: 0,
  maxAttempts: 15,
  lastStatusCode: null,
  lastError: null,
  nextRetryAt: '2026-11-21T13:00:00.000Z',
  deliveredAt: null,
  createdAt: '2026-11-21T13:00:00.000Z',
  updatedAt: '2026-11-21T13:00:00.000Z',
  payload: { z: 1, a: { y: [2] } },
};
const failing = { attempts: 1, lastStatusCode: 500, lastError: 'status: 500', updatedAt: '2026-11-21T13:00:01.000Z' };

describe('deliveryView', () => {
  it('shows a new delivery as PENDING', () => expect(viewOf(untried)).to.deep.equal(pending));
  it('has no endpoint for a delivery to a payment’s own URL', () => {
    const toUrl = scheduled({ ...delivery, endpointId: null }, `${ACCOUNT_ID}/test/shop.example`);
    expect(viewOf(toUrl)).to.deep.equal({ ...pending, endpointId: null });
  });
  it('shows a delivery after one failure as PENDING, with its last error', () => {
    const next = '2026-11-21T13:00:06.000Z';
    expect(viewAfter(attempt('oops'))).to.deep.equal({
      ...pending,
      ...failing,
      lastResponseBody: 'oops',
      nextRetryAt: next,
    });
    expect(viewAfter(attempt(null))).to.deep.equal({ ...pending, ...failing, nextRetryAt: next });
  });
  describe('with the current state of its timer and endpoint', () => {
    const [due, now] = [at('13:00:06'), at('13:00:02')];
    const viewAt = (
      state: ExistingDelivery,
      { now: when = now, ...more }: Partial<DeliveryNow & { now: Timestamp }>,
    ) => {
      const { status, nextRetryAt } = deliveryView(
        deliveryId,
        state,
        { isUnderWay: false, isPaused: false, dueAt: null, ...more },
        BODY,
        when,
      );
      return [status, nextRetryAt];
    };
    it('shows PROCESSING without a next attempt while an attempt is running', () => {
      for (const state of [untried, stateAfter(attempt(null))])
        expect(viewAt(state, { isUnderWay: true, dueAt: due })).to.deep.equal(['PROCESSING', null]);
    });
    it('shows the timer’s next attempt, but never a time in the past', () => {
      const [never, once] = [untried, stateAfter(attempt(null))];
      expect(viewAt(never, {})).to.deep.equal(['PENDING', now]);
      expect(viewAt(never, { dueAt: at('13:01:00') })).to.deep.equal(['PENDING', at('13:01:00')]);
      expect(viewAt(once, {})).to.deep.equal(['PENDING', due]);
      expect(viewAt(once, { dueAt: at('13:00:01') })).to.deep.equal(['PENDING', now]);
      expect(viewAt(once, { now: at('13:00:07') })).to.deep.equal(['PENDING', at('13:00:07')]);
    });
    it('shows no next attempt while the endpoint is inactive', () => {
      for (const state of [untried, stateAfter(attempt(null))])
        expect(viewAt(state, { isPaused: true, dueAt: due })).to.deep.equal(['PENDING', null]);
    });
    it('shows no next attempt after the end, even if a timer is left', () =>
      expect(viewAt(stateAfter(attempt(null), delivered), { dueAt: due })).to.deep.equal(['DELIVERED', null]));
  });
  it('shows a successful delivery as DELIVERED', () => {
    expect(viewAfter(attempt('oops'), delivered)).to.deep.equal({
      ...pending,
      status: 'DELIVERED',
      attempts: 2,
      lastStatusCode: 204,
      nextRetryAt: null,
      deliveredAt: '2026-11-21T13:00:06.000Z',
      updatedAt: '2026-11-21T13:00:06.000Z',
    });
  });
  it('shows a dead-lettered delivery as FAILED', () => {
    const dead: WebhookDeliveryEvent = { type: 'WebhookDeliveryDeadLettered', data: { at: at('13:00:01') } };
    expect(viewAfter(attempt('oops'), dead)).to.deep.equal({
      ...pending,
      ...failing,
      status: 'FAILED',
      lastResponseBody: 'oops',
      nextRetryAt: null,
    });
  });
  it('shows a cancelled delivery as CANCELLED', () => {
    const cancelled: WebhookDeliveryEvent = {
      type: 'WebhookDeliveryCancelled',
      data: { reason: 'gone', at: at('13:00:02'), delivery },
    };
    const view = { ...pending, status: 'CANCELLED', nextRetryAt: null, updatedAt: '2026-11-21T13:00:02.000Z' };
    expect(viewAfter(cancelled)).to.deep.equal(view);
  });
  it('keeps the key order of the payload', () => {
    expect(JSON.stringify(viewOf(untried).payload)).to.equal('{"z":1,"a":{"y":[2]}}');
  });
  it('defines the five statuses of the interface', () => {
    expect(DELIVERY_STATUSES).to.deep.equal(['PENDING', 'PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED']);
  });
});
