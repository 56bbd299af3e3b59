// One payment in the transaction format: what a path names, and what a merchant reads of it and does with it besides paying it back
// (contract.md Payments, rules I2, I6, W7, W8).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { TRANSACTION_STATUSES, transactionStatus } from '../../../domain/presentation/status.ts';
import { type TransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
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
import { actorOf, type KeyContext, route } from '../../kernel/route.ts';
import { assertFollowed, assertShown } from '../../kernel/upToDate.ts';
import { receiptFactsOf } from '../../site/paymentFacts.ts';
import { qrPngDataUrl } from '../../site/qrPng.ts';
import { renderReceipt } from '../../site/receiptPdf.ts';
import { PAYMENTS } from './tags.ts';
import { transactionSchema } from './transactionSchema.ts';

/** The payment that a path names. */
export const paymentParam = {
  id: {
    description: 'The raw id of the payment, or its `tx_` or `ch_` form.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<PaymentId>(text, PAYMENT.idPrefix, PREFIX.charge) ?? NO_PAYMENT,
  },
} as const;

/** Returns the payment that the path names; null when the caller has none of that id. Throws StreamParked. */
export const paymentAsked = async (context: KeyContext<typeof paymentParam>): Promise<ExistingPayment | null> => {
  const { params, caller, services } = context;
  assertShown(context, params.id);
  return services.views.payments.find(caller.tenant, params.id);
};

/** With the QR code, which lists leave out. */
export const transactionBody = async (payment: ExistingPayment): Promise<TransactionView> => {
  const view = transactionView(payment);
  return view.pixCopyPaste === null ? view : { ...view, pixQrCode: await qrPngDataUrl(view.pixCopyPaste) };
};

export const getPaymentRoute = route({
  method: 'GET',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Read a payment by its raw id, its tx_ id or its ch_ id',
  description: 'Returns one payment with all fields. Fields of methods that the payment does not offer are null.',
  tag: PAYMENTS,
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'The payment.', schema: transactionSchema } },
  errors: ['not_found'],
  handle: async (context) => {
    const payment = await paymentAsked(context);
    return payment ? { status: 200, body: await transactionBody(payment) } : NO_PAYMENT;
  },
});

const statusSchema = described('Where the payment stands.', oneOfTexts(TRANSACTION_STATUSES));

export const cancelPaymentRoute = route({
  method: 'POST',
  path: '/v1/payments/{id}/cancel',
  operationId: 'cancelPayment',
  summary: 'Cancel a payment that is not settled and has not ended',
  description:
    'Cancels a payment whose status is PENDING, WAITING_PAYMENT or PROCESSING. Refund a settled payment instead.',
  tag: PAYMENTS,
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
  description:
    'Sends the webhooks of the payment’s current status again, with the same event ids. A payment allows 100 resends.',
  tag: PAYMENTS,
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

const NOT_AT_PROVIDER = {
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
  description:
    'Asks the provider for its own status of the payment. Use it to compare both sides when they seem to differ.',
  tag: PAYMENTS,
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'Our status and the provider’s.', schema: providerStatusSchema } },
  errors: ['not_found', 'service_unavailable'],
  handle: async (context) => {
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const bound = await context.services.providerStatus(payment);
    return { status: 200, body: { localStatus: transactionStatus(payment), ...(bound ?? NOT_AT_PROVIDER) } };
  },
});

const receiptSchema = exactly({
  contentType: constant('application/pdf'),
  base64: described('The PDF.', string()),
});

const NO_RECEIPT = reject(
  'not_found',
  'There is no receipt: the payment is not settled, or its provider exposes none.',
);

export const getReceiptRoute = route({
  method: 'GET',
  path: '/v1/payments/{id}/receipt',
  operationId: 'getReceipt',
  summary: 'The receipt of a settled payment as a PDF; it stays after a refund and tells of it',
  description:
    'Returns JSON that contains the receipt: `base64` is a PDF file. The receipt exists once the payment is settled and its provider issues one.',
  tag: PAYMENTS,
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'The PDF, in base64.', schema: receiptSchema } },
  errors: ['not_found'],
  handle: async (context) => {
    const { caller, services } = context;
    const { settings } = caller.account;
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const facts = receiptFactsOf(payment, settings, await services.findLogo(settings.logo));
    if (facts === null || !services.exposesReceipts(caller.tenant.mode)) return NO_RECEIPT;
    const pdf = await renderReceipt(facts);
    return { status: 200, body: { contentType: 'application/pdf' as const, base64: pdf.toString('base64') } };
  },
});
