// Routes of one payment in the transaction format, except refunds (contract.md Payments, rules I2, I6, W7, W8).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { TRANSACTION_STATUSES, transactionStatus } from '../../../domain/presentation/status.ts';
import { type TransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, type KeyContext, ok, pathParam, route } from '../../kernel/route.ts';
import { assertFollowed, assertShown } from '../../kernel/upToDate.ts';
import { receiptFactsOf } from '../../site/paymentFacts.ts';
import { qrPngDataUrl } from '../../site/qrPng.ts';
import { renderReceipt } from '../../site/receiptPdf.ts';
import { ON_PAYMENTS } from './chargeSchema.ts';
import { transactionSchema } from './transactionSchema.ts';

/** The path parameter of a payment. */
export const paymentParam = {
  id: pathParam(
    'The raw id of the payment, or its `tx_` or `ch_` form.',
    (text) => parseId<PaymentId>(text, PAYMENT.idPrefix, PREFIX.charge) ?? NO_PAYMENT,
  ),
};

/** Returns the payment in the path, or null if the caller has no such payment. Throws StreamParked when reads don't follow the payment. */
export const paymentAsked = async (context: KeyContext<typeof paymentParam>): Promise<ExistingPayment | null> => {
  const { params, caller, services } = context;
  assertShown(context, params.id);
  return services.views.payments.find(caller.tenant, params.id);
};

/** Returns the response body of a payment, with the QR code that lists leave out. */
export const transactionBody = async (payment: ExistingPayment): Promise<TransactionView> => {
  const view = transactionView(payment);
  return view.pixCopyPaste === null ? view : { ...view, pixQrCode: await qrPngDataUrl(view.pixCopyPaste) };
};

export const getPaymentRoute = route('GET', '/v1/payments/{id}', {
  operationId: 'getPayment',
  summary: 'Retrieve a payment',
  description:
    'Returns one payment by its raw, `tx_` or `ch_` id. Fields of methods that the payment does not offer are null.',
  ...ON_PAYMENTS,
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: json('The payment.', transactionSchema) },
  handle: async (context) => {
    const payment = await paymentAsked(context);
    return payment ? { status: 200, body: await transactionBody(payment) } : NO_PAYMENT;
  },
});

const statusSchema = s.described('The status of the payment.', s.oneOfTexts(TRANSACTION_STATUSES));

export const cancelPaymentRoute = route('POST', '/v1/payments/{id}/cancel', {
  operationId: 'cancelPayment',
  summary: 'Cancel a payment',
  description:
    'Cancels a payment whose status is PENDING, WAITING_PAYMENT or PROCESSING. Refund a settled payment instead.',
  ...ON_PAYMENTS,
  params: paymentParam,
  responses: { 200: json('The cancelled payment.', transactionSchema) },
  errors: ['transaction_not_cancellable', 'service_unavailable'],
  handle: async (context) => {
    const { caller, params, services } = context;
    assertFollowed(context, params.id);
    const done = await services.cancelPayment(caller.tenant, params.id, actorOf(context));
    return isRejection(done) ? done : { status: 200, body: await transactionBody(done) };
  },
});

const resendSchema = s.exactly({
  resent: s.described('Whether any endpoint is subscribed to these webhooks.', s.boolean),
  status: statusSchema,
});

export const resendWebhookRoute = route('POST', '/v1/payments/{id}/resend-webhook', {
  operationId: 'resendWebhook',
  summary: 'Resend the webhooks of a payment',
  description:
    'Sends the webhooks of the payment’s current status again, as new deliveries with the same event ids. A payment allows 100 resends.',
  ...ON_PAYMENTS,
  params: paymentParam,
  reads: ['webhookEndpoints'],
  responses: {
    200: json('Whether webhooks are resent, and the status of the payment.', resendSchema),
  },
  errors: ['resend_limit_reached'],
  handle: async (context) => {
    const { caller, params, services } = context;
    assertFollowed(context, params.id);
    return ok(await services.resendWebhook(caller.tenant, params.id, actorOf(context)));
  },
});

const maybeText = (description: string) => s.orNull(s.described(description, s.string()));
const providerStatusSchema = s.exactly({
  localStatus: statusSchema,
  provider: maybeText('The name of the provider.'),
  providerTransactionId: maybeText('The provider’s id of the payment.'),
  providerStatus: maybeText('The provider’s status of the payment.'),
  rawResponse: s.described('The provider’s response, without those who paid. Null after an erasure.', s.anyJson),
  error: s.optional(
    s.described(
      'Present if the payment was never sent to a provider.',
      s.constant('TRANSACTION_HAS_NO_PROVIDER_REFERENCE'),
    ),
  ),
});

const NOT_AT_PROVIDER = {
  provider: null,
  providerTransactionId: null,
  providerStatus: null,
  rawResponse: null,
  error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
} as const;

export const providerStatusRoute = route('GET', '/v1/payments/{id}/provider-status', {
  operationId: 'getProviderStatus',
  summary: 'Retrieve the provider’s status of a payment',
  description:
    'Requests the status of the payment from its provider. Use it when the status in Quita seems to differ from the provider’s.',
  ...ON_PAYMENTS,
  params: paymentParam,
  reads: ['payments'],
  responses: {
    200: json('The status in Quita and at the provider.', providerStatusSchema),
  },
  errors: ['service_unavailable'],
  handle: async (context) => {
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const bound = await context.services.providerStatus(payment);
    return { status: 200, body: { localStatus: transactionStatus(payment), ...(bound ?? NOT_AT_PROVIDER) } };
  },
});

const receiptSchema = s.exactly({
  contentType: s.constant('application/pdf'),
  base64: s.described('The PDF file, in base64.', s.string()),
});

const NO_RECEIPT = reject(
  'not_found',
  'There is no receipt: the payment is not settled, or its provider issues no receipts.',
);

export const getReceiptRoute = route('GET', '/v1/payments/{id}/receipt', {
  operationId: 'getReceipt',
  summary: 'Retrieve the receipt of a payment',
  description:
    'Returns the receipt of a settled payment as a PDF in base64. It stays available after a refund and shows it. Some providers issue no receipts.',
  ...ON_PAYMENTS,
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: json('The receipt.', receiptSchema) },
  handle: async (context) => {
    const { caller, services } = context;
    const { settings } = caller.account;
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const facts = receiptFactsOf(payment, settings, await services.findLogo(settings.logo));
    if (facts === null) return NO_RECEIPT;
    const pdf = await renderReceipt(facts);
    return { status: 200, body: { contentType: 'application/pdf' as const, base64: pdf.toString('base64') } };
  },
});
