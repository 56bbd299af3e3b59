// The one payment that a route names, and its Transaction as the read routes show it (contract.md Transaction, rules I2, I6).
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { type TransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import type { RouteContext } from '../../kernel/route.ts';
import { assertShown } from '../../kernel/upToDate.ts';
import { qrPngDataUrl } from '../../site/qrPng.ts';

/** The raw id in the path, or in its `tx_` or `ch_` form; null when it is none. */
export const paymentIdOf = ({ params }: Pick<RouteContext, 'params'>): PaymentId | null =>
  parseId<PaymentId>(params['id'] as string, PREFIX.transaction, PREFIX.charge);

/** null: the caller has no such payment. */
export const paymentAsked = async (ask: RouteContext): Promise<ExistingPayment | null> => {
  const id = paymentIdOf(ask);
  if (id) assertShown(ask, id);
  return id && ask.services.views.payments.find(ask.caller.tenant, id);
};

/** With the QR code, which lists leave out. */
export const transactionBody = async (payment: ExistingPayment): Promise<TransactionView> => {
  const view = transactionView(payment);
  return view.pixCopyPaste === null ? view : { ...view, pixQrCode: await qrPngDataUrl(view.pixCopyPaste) };
};
