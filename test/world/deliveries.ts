// A sample delivery and results of its attempts.

import type { EndpointId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { AttemptResult, Delivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { CREATED_AT, PAYMENT_ID } from '../support/samples.ts';

/** The endpoint's id, which is also the id of the target. */
export const TARGET = '00000000000000000000000003' as EndpointId;

export const deliveryOf = (over: Partial<Delivery> = {}): Delivery => ({
  stream: PAYMENT.stream(PAYMENT_ID),
  revision: 1,
  paymentId: PAYMENT_ID,
  eventType: 'charge.paid',
  endpointId: TARGET,
  resend: 0,
  scheduledAt: CREATED_AT,
  form: 1,
  ...over,
});

export const REFUSED: AttemptResult = {
  ok: false,
  statusCode: 500,
  error: 'status: 500',
  responseBody: null,
  durationMs: 1,
  retryAfterMs: null,
};
export const TAKEN: AttemptResult = { ...REFUSED, ok: true, statusCode: 200, error: null };
