// Payments in the transaction format (interface.md Payments).
import { type PaymentId, PREFIX, parseId } from '../../domain/kernel/ids.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import { transactionView } from '../../domain/wire/transaction.ts';
import { findPayment } from '../../projections/payments/queries.ts';
import { qrPngDataUrl } from '../pages/qrPng.ts';
import type { Route } from '../route.ts';
import { transactionSchema } from '../schemas/others.ts';

export const getPaymentRoute: Route = {
  method: 'GET',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Read a payment by its raw id, its tx_ id or its ch_ id',
  auth: 'apikey',
  readsOwnWrites: true,
  responses: { 200: { description: 'The payment.', schema: transactionSchema } },
  errors: ['not_found'],
  handle: async ({ caller, params, services }) => {
    const id = parseId<PaymentId>(params['id'] as string, PREFIX.transaction, PREFIX.charge);
    const payment = id && (await findPayment(services.db, caller.tenant, id));
    if (!payment) return reject('not_found', 'There is no such payment.');
    const view = transactionView(payment);
    const pixQrCode = view.pixCopyPaste === null ? null : await qrPngDataUrl(view.pixCopyPaste);
    return { status: 200, body: { ...view, pixQrCode } };
  },
};
