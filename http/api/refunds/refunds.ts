// Routes that request and list refunds (contract.md Payments).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { refundView } from '../../../domain/presentation/refund.ts';
import { refundProblems } from '../../../domain/refund/request.ts';
import { created, json, jsonBody, route } from '../../kernel/route.ts';
import { assertFollowed, assertShown } from '../../kernel/upToDate.ts';
import { paymentParam } from '../payments/payment.ts';
import { REFUNDS, refundBody, refundSchema, refundsSchema } from './refundSchema.ts';

export const refundPaymentRoute = route('POST', '/v1/payments/{id}/refund', {
  operationId: 'refundPayment',
  summary: 'Refund a payment',
  description:
    'Refunds a settled payment. Without `amount`, it refunds the remaining refundable amount. The refund starts as PENDING and ends as REFUNDED or FAILED. A repeat with the same `idempotencyKey` and body returns the first response.',
  tag: REFUNDS,
  principal: 'apiKey',
  params: paymentParam,
  body: jsonBody({
    schema: refundBody,
    codes: { idempotencyKey: 'invalid_idempotency_key', amount: 'invalid_amount' },
    missing: { idempotencyKey: 'idempotency_key_required' },
    refine: refundProblems,
  }),
  responses: {
    201: json('The requested refund. It is processed asynchronously.', refundSchema),
  },
  errors: [
    'idempotency_key_reused',
    'payment_erased',
    'transaction_not_refundable',
    'charge_disputed',
    'refund_limit_reached',
    'refund_amount_exceeds_remaining',
    'REFUND_NOT_SUPPORTED',
    'fraud.account_velocity_exceeded',
  ],
  handle: async ({ caller, params, body, requestId, services }) => {
    const { id: paymentId } = params;
    assertFollowed({ services, caller }, paymentId);
    const { account, actor, tenant } = caller;
    const asked = { account, mode: tenant.mode, paymentId, body, actor, requestId };
    const done = await services.requestRefund(asked);
    if (isRejection(done)) return done;
    return created(refundView(paymentId, done.refund), done.replayed);
  },
});

export const listRefundsRoute = route('GET', '/v1/payments/{id}/refunds', {
  operationId: 'listRefunds',
  summary: 'List the refunds of a payment',
  description:
    'Returns all refunds of a payment, newest first. A payment has at most 100 refunds, so the list has no pages.',
  tag: REFUNDS,
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments', 'refunds'],
  responses: { 200: json('The refunds.', refundsSchema) },
  handle: async ({ caller, params, services }) => {
    assertShown({ services, caller }, params.id);
    const data = await services.views.refunds.list(caller.tenant, params.id);
    return data === null ? NO_PAYMENT : { status: 200, body: { data } };
  },
});
