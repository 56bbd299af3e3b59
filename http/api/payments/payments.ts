// Payments in the transaction format (contract.md Payments).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import type { Route } from '../../kernel/route.ts';
import { transactionSchema } from '../schemas.ts';
import { paymentAsked, transactionBody } from './transactionBody.ts';

export const getPaymentRoute: Route = {
  method: 'GET',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Read a payment by its raw id, its tx_ id or its ch_ id',
  auth: 'apikey',
  reads: ['payments'],
  responses: { 200: { description: 'The payment.', schema: transactionSchema } },
  errors: ['not_found'],
  handle: async (ask) => {
    const payment = await paymentAsked(ask);
    return payment ? { status: 200, body: await transactionBody(payment) } : NO_PAYMENT;
  },
};
