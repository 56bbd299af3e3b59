// POST /v1/payments (contract.md Payments, rules P1–P4).
import { paymentProblems, paymentRequest } from '../../../domain/charge/paymentRequest.ts';
import type { CodedProblem } from '../../../domain/charge/request.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { createdTransactionView } from '../../../domain/presentation/transaction.ts';
import { jsonBody, route, type ValidationContext } from '../../kernel/route.ts';
import { created } from './created.ts';
import { createdPaymentSchema, createPaymentBody } from './transactionSchema.ts';

/** Webhooks of this payment may go where those of an endpoint may (W5, W7). */
const webhookUrlProblems = (
  url: string | undefined,
  { mode, services }: ValidationContext,
): readonly CodedProblem[] => {
  const verdict = url === undefined ? null : services.judgeWebhookUrl(url, mode);
  if (verdict === null) return [];
  return [{ code: 'invalid_url', param: 'webhookUrl', message: verdict.message.replace(/^url /, '') }];
};

export const createPaymentRoute = route({
  method: 'POST',
  path: '/v1/payments',
  operationId: 'createPayment',
  summary: 'Create a payment by one or several methods; a job finalises it with the acquirers',
  tag: 'Payments',
  principal: 'apiKey',
  body: jsonBody({
    schema: createPaymentBody,
    codes: {
      amount: 'invalid_amount',
      currency: 'invalid_currency',
      paymentMethods: 'invalid_payment_method',
      customerId: 'invalid_customer',
      customerName: 'invalid_customer',
      customerDocument: 'invalid_customer',
      customerEmail: 'invalid_customer',
      metadata: 'invalid_metadata',
      webhookUrl: 'invalid_url',
      idempotencyKey: 'invalid_idempotency_key',
    },
    missing: { idempotencyKey: 'idempotency_key_required' },
    refine: (body, context) => [...paymentProblems(body), ...webhookUrlProblems(body.webhookUrl, context)],
  }),
  responses: {
    201: { kind: 'json', description: 'The payment, PENDING until it is finalised.', schema: createdPaymentSchema },
  },
  errors: [
    'idempotency_key_reused',
    'idempotency_request_in_progress',
    'fraud.customer_velocity_exceeded',
    'fraud.account_velocity_exceeded',
    'unprocessable_entity',
    'service_unavailable',
  ],
  handle: async ({ caller, services, body, requestId }) => {
    const done = await services.createPayment.handle({
      account: caller.account,
      mode: caller.tenant.mode,
      actor: caller.actor,
      request: paymentRequest(body),
      baseUrl: services.baseUrl,
      idempotencyKey: body.idempotencyKey,
      requestId,
    });
    if (isRejection(done)) return done;
    return created(createdTransactionView(done.payment), done.replayed);
  },
});
