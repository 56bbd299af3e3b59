// What a merchant does with one payment besides paying it back, and asks of it (contract.md Payments).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { TRANSACTION_STATUSES, transactionStatus } from '../../../domain/presentation/status.ts';
import { actorOf } from '../../kernel/actor.ts';
import {
  anyJson,
  boolean,
  constant,
  described,
  exactly,
  oneOfTexts,
  optional,
  orNull,
  string,
} from '../../kernel/jsonSchema.ts';
import { route } from '../../kernel/route.ts';
import { assertFollowed } from '../../kernel/upToDate.ts';
import { paymentAsked, paymentParam, transactionBody } from './transactionBody.ts';
import { transactionSchema } from './transactionSchema.ts';

const statusSchema = described('Where the payment stands.', oneOfTexts(TRANSACTION_STATUSES));

export const cancelPaymentRoute = route({
  method: 'POST',
  path: '/v1/payments/{id}/cancel',
  operationId: 'cancelPayment',
  summary: 'Cancel a payment that is not settled and has not ended',
  tag: 'Payments',
  principal: 'apiKey',
  params: paymentParam,
  responses: { 200: { kind: 'json', description: 'The cancelled payment.', schema: transactionSchema } },
  errors: ['not_found', 'transaction_not_cancellable', 'service_unavailable'],
  handle: async (context) => {
    const { caller, params, services } = context;
    assertFollowed(context, params.id);
    const done = await services.cancelPayment(caller.tenant, params.id, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: await transactionBody(done) };
  },
});

const resendSchema = exactly({
  resent: described('Whether any endpoint wants them.', boolean),
  status: statusSchema,
});

export const resendWebhookRoute = route({
  method: 'POST',
  path: '/v1/payments/{id}/resend-webhook',
  operationId: 'resendWebhook',
  summary: 'Send the webhooks of the present status again, as fresh deliveries',
  tag: 'Payments',
  principal: 'apiKey',
  params: paymentParam,
  reads: ['webhookEndpoints'],
  responses: {
    200: { kind: 'json', description: 'Whether any endpoint wants them, and the status.', schema: resendSchema },
  },
  errors: ['not_found', 'resend_limit_reached'],
  handle: async (context) => {
    const { caller, params, services } = context;
    assertFollowed(context, params.id);
    const done = await services.resendWebhook(caller.tenant, params.id, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: done };
  },
});

const maybeText = (description: string) => orNull(described(description, string()));
const providerStatusSchema = exactly({
  localStatus: statusSchema,
  provider: maybeText('Its name.'),
  providerTransactionId: maybeText('Its own id of the payment.'),
  providerStatus: maybeText('In its own words.'),
  rawResponse: described('As the provider gave it.', anyJson),
  error: optional(
    described('There when no provider ever had the payment.', constant('TRANSACTION_HAS_NO_PROVIDER_REFERENCE')),
  ),
});

const NOWHERE = {
  provider: null,
  providerTransactionId: null,
  providerStatus: null,
  rawResponse: null,
  error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
} as const;

export const providerStatusRoute = route({
  method: 'GET',
  path: '/v1/payments/{id}/provider-status',
  operationId: 'getProviderStatus',
  summary: 'What the provider says of a payment',
  tag: 'Payments',
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'Our status and the provider’s.', schema: providerStatusSchema } },
  errors: ['not_found', 'service_unavailable'],
  handle: async (context) => {
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const told = await context.services.providerStatus(payment);
    return { status: 200, body: { localStatus: transactionStatus(payment), ...(told ?? NOWHERE) } };
  },
});
