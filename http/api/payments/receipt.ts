// The receipt of a settled payment (contract.md, GET /v1/payments/{id}/receipt).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { constant, described, exactly, string } from '../../kernel/jsonSchema.ts';
import { route } from '../../kernel/route.ts';
import { receiptFactsOf } from '../../site/paymentFacts.ts';
import { renderReceipt } from '../../site/receiptPdf.ts';
import { paymentAsked, paymentParam } from './transactionBody.ts';

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
  tag: 'Payments',
  principal: 'apiKey',
  params: paymentParam,
  reads: ['payments'],
  responses: { 200: { kind: 'json', description: 'The PDF, in base64.', schema: receiptSchema } },
  errors: ['not_found'],
  handle: async (context) => {
    const { caller, services } = context;
    const payment = await paymentAsked(context);
    if (!payment) return NO_PAYMENT;
    const facts = receiptFactsOf(payment, caller.account.settings.receiverName);
    if (facts === null || !services.exposesReceipts(caller.tenant.mode)) return NO_RECEIPT;
    const pdf = await renderReceipt(facts);
    return { status: 200, body: { contentType: 'application/pdf' as const, base64: pdf.toString('base64') } };
  },
});
