// Payments in the transaction format (contract.md Payments).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { route } from '../../kernel/route.ts';
import { paymentAsked, paymentParam, transactionBody } from './transactionBody.ts';
import { transactionSchema } from './transactionSchema.ts';

export const getPaymentRoute = route({
  method: 'GET',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Read a payment by its raw id, its tx_ id or its ch_ id',
  tag: 'Payments',
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
