// What a merchant does with one payment besides paying it back, and asks of it (contract.md Payments).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { requesterOf } from '../../kernel/actor.ts';
import type { Route } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { transactionSchema } from '../schemas.ts';
import { providerStatusSchema, resendSchema } from './paymentActionsSchema.ts';
import { paymentAsked, paymentIdOf, transactionBody } from './transactionBody.ts';

export const cancelPaymentRoute: Route = {
  method: 'POST',
  path: '/v1/payments/{id}/cancel',
  operationId: 'cancelPayment',
  summary: 'Cancel a payment that is not settled and has not ended',
  auth: 'apikey',
  responses: { 200: { description: 'The cancelled payment.', schema: transactionSchema } },
  errors: ['not_found', 'transaction_not_cancellable', 'service_unavailable'],
  handle: async (ask) => {
    const id = paymentIdOf(ask);
    if (id === null) return NO_PAYMENT;
    assertFollowed(ask, id);
    const done = await ask.services.cancelPayment(ask.caller.tenant, id, requesterOf(ask));
    return isRejection(done) ? done : { status: 200, body: await transactionBody(done) };
  },
};

export const resendWebhookRoute: Route = {
  method: 'POST',
  path: '/v1/payments/{id}/resend-webhook',
  operationId: 'resendWebhook',
  summary: 'Send the webhooks of the present status again, as fresh deliveries',
  auth: 'apikey',
  reads: ['webhookEndpoints'],
  responses: { 200: { description: 'Whether any endpoint wants them, and the status.', schema: resendSchema } },
  errors: ['not_found', 'resend_limit_reached'],
  handle: async (ask) => {
    const id = paymentIdOf(ask);
    if (id === null) return NO_PAYMENT;
    assertFollowed(ask, id);
    const done = await ask.services.resendWebhook(ask.caller.tenant, id, requesterOf(ask));
    return isRejection(done) ? done : { status: 200, body: done };
  },
};

const NOWHERE = {
  provider: null,
  providerTransactionId: null,
  providerStatus: null,
  rawResponse: null,
  error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
};

export const providerStatusRoute: Route = {
  method: 'GET',
  path: '/v1/payments/{id}/provider-status',
  operationId: 'getProviderStatus',
  summary: 'What the provider says of a payment',
  auth: 'apikey',
  reads: ['payments'],
  responses: { 200: { description: 'Our status and the provider’s.', schema: providerStatusSchema } },
  errors: ['not_found', 'service_unavailable'],
  handle: async (ask) => {
    const payment = await paymentAsked(ask);
    if (!payment) return NO_PAYMENT;
    const told = await ask.services.providerStatus(payment);
    return { status: 200, body: { localStatus: transactionStatus(payment), ...(told ?? NOWHERE) } };
  },
};
