// The one payment that a route names, and its Transaction as the read routes show it (contract.md Transaction, rules I2, I6).
import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { type PaymentId, PREFIX, parseId } from '../../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { type TransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import type { KeyContext } from '../../kernel/route.ts';
import { assertShown } from '../../kernel/upToDate.ts';
import { qrPngDataUrl } from '../../site/qrPng.ts';

/** The payment that a path names. */
export const paymentParam = {
  id: {
    description: 'The raw id of the payment, or its `tx_` or `ch_` form.',
    schema: { type: 'string' },
    parse: (text: string) => parseId<PaymentId>(text, PREFIX.transaction, PREFIX.charge) ?? NO_PAYMENT,
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
