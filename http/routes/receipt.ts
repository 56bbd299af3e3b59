// The receipt of a settled payment (interface.md, GET /v1/payments/{id}/receipt).
import { NO_PAYMENT } from '../../application/ownPayment.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { refundedAmount } from '../../domain/transaction/refunds.ts';
import type { SettledTransaction } from '../../domain/transaction/transaction.ts';
import { checkoutUrl } from '../../domain/wire/charge.ts';
import { type ReceiptFacts, renderReceipt } from '../pages/receiptPdf.ts';
import type { Route } from '../route.ts';
import { receiptSchema } from '../schemas/paymentActions.ts';
import { paymentAsked } from './transactionBody.ts';

const NO_RECEIPT = reject(
  'not_found',
  'There is no receipt: the payment is not settled, or its provider exposes none.',
);

const factsOf = (
  { charge: { terms } }: ExistingPayment,
  { settlement, refunds }: SettledTransaction,
  receiverName: string,
): ReceiptFacts => {
  const { receipt, method, currency } = settlement;
  return {
    mode: terms.mode,
    receiverName,
    amount: receipt.amount,
    currency,
    method,
    paidAt: receipt.paidAt,
    reference: receipt.endToEndId,
    payerName: receipt.payer.name,
    payerDocument: receipt.payer.document,
    transactionId: PREFIX.transaction + terms.paymentId,
    refunded: refundedAmount(refunds),
    verificationUrl: checkoutUrl(terms),
  };
};

export const getReceiptRoute: Route = {
  method: 'GET',
  path: '/v1/payments/{id}/receipt',
  operationId: 'getReceipt',
  summary: 'The receipt of a settled payment as a PDF; it stays after a refund and tells of it',
  auth: 'apikey',
  readsOwnWrites: true,
  responses: { 200: { description: 'The PDF, in base64.', schema: receiptSchema } },
  errors: ['not_found'],
  handle: async (ask) => {
    const { caller, services } = ask;
    const payment = await paymentAsked(ask);
    if (!payment) return NO_PAYMENT;
    const { transaction } = payment;
    if (transaction.status !== 'settled' || !services.exposesReceipts(caller.tenant.mode)) return NO_RECEIPT;
    const pdf = await renderReceipt(factsOf(payment, transaction, caller.account.settings.receiverName));
    return { status: 200, body: { contentType: 'application/pdf', base64: pdf.toString('base64') } };
  },
};
