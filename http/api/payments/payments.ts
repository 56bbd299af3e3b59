// Routes that create and list payments in the transaction format (contract.md Create payment body, List payments query; rules P1–P4).

import { type PageOrder, SORT_FIELDS } from '../../../application/ports/readModels/payments.ts';
import { paymentProblems, paymentRequest } from '../../../domain/charge/request.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { TRANSACTION_STATUSES } from '../../../domain/presentation/status.ts';
import { createdTransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import { notAfter, notBefore, oneOf, wholeNumber } from '../../kernel/query.ts';
import { created, json, jsonBody, route } from '../../kernel/route.ts';
import { webhookUrlProblems } from '../webhooks/webhookUrl.ts';
import { ON_PAYMENTS } from './chargeSchema.ts';
import { createdPaymentSchema, createPaymentBody, paymentListSchema } from './transactionSchema.ts';

export const createPaymentRoute = route('POST', '/v1/payments', {
  operationId: 'createPayment',
  summary: 'Create a payment',
  description:
    'Creates a payment that the payer can settle with any of the named methods. The response has the status PENDING; a background job then requests an instrument for each method. Webhooks and `getPayment` report the result.',
  ...ON_PAYMENTS,
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
    ignoresUnknownFields: true,
    refine: (body, context) => [
      ...paymentProblems(body),
      ...webhookUrlProblems('webhookUrl', body.webhookUrl, context),
    ],
  }),
  responses: {
    201: json('The payment. It is PENDING until the acquirers have issued its instruments.', createdPaymentSchema),
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

/** Pages beyond this number start after more payments than can exist. */
const PAGE_MAX = 1_000_000_000;

export const listPaymentsRoute = route('GET', '/v1/payments', {
  operationId: 'listPayments',
  summary: 'List payments',
  description:
    'Returns payments by page number, with the total count. Use `sortBy` and `sortOrder` to change the order. Unknown parameters are rejected.',
  ...ON_PAYMENTS,
  reads: ['payments'],
  query: {
    page: wholeNumber('The page number, from 1.', 1, PAGE_MAX, 1),
    limit: wholeNumber('The maximum number of payments per page.', 1, 100, 20),
    status: oneOf('Only payments in this status.', TRANSACTION_STATUSES),
    startDate: notBefore('Only payments created at or after this time.'),
    endDate: notAfter('Only payments created at or before this time.'),
    sortBy: oneOf('The field to sort by. Default: createdAt.', SORT_FIELDS),
    sortOrder: oneOf('The sort order. Default: desc.', ['asc', 'desc']),
  },
  refusesUnknownQuery: true,
  responses: {
    200: json('A page of payments, and their total number.', paymentListSchema),
  },
  handle: async ({ caller, query, services: { views } }) => {
    const { page, limit, status, startDate, endDate, sortBy, sortOrder } = query;
    const filter = {
      statuses: status === undefined ? null : [status],
      from: startDate ?? null,
      to: endDate ?? null,
      documentKey: null,
    };
    const order: PageOrder = { by: sortBy ?? 'createdAt', direction: sortOrder ?? 'desc' };
    const [payments, total] = await Promise.all([
      views.payments.listPage(caller.tenant, filter, order, { page, limit }),
      views.payments.count(caller.tenant, filter),
    ]);
    const data = payments.map((payment) => {
      const view = transactionView(payment);
      return { ...view, id: PAYMENT.idPrefix + view.id };
    });
    return { status: 200, body: { data, total, page, limit } };
  },
});
