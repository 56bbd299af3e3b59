// The Transaction (payment) of the interface. Fields that do not apply are null.
import type { Json } from '../kernel/serde.ts';
import type { ExistingPayment } from '../payment/payment.ts';
import { type TransactionStatus, transactionStatus } from './status.ts';

export interface TransactionView {
  readonly id: string;
  readonly status: TransactionStatus;
  readonly amount: number;
  readonly currency: string;
  readonly paymentMethods: readonly string[];
  readonly paidWith: string | null;
  readonly customerName: string | null;
  readonly customerDocument: string | null;
  readonly customerEmail: string | null;
  readonly metadata: { readonly [key: string]: Json };
  /** Data URL of a PNG: filled in by the read route only (I6), which holds the renderer. */
  readonly pixQrCode: string | null;
  readonly pixCopyPaste: string | null;
  readonly pixExpiresAt: string | null;
  readonly cardRedirectUrl: null;
  readonly mbEntity: null;
  readonly mbReference: null;
  readonly mbExpiresAt: null;
  readonly boletoBarcode: null;
  readonly boletoLine: null;
  readonly boletoPdfUrl: null;
  readonly boletoExpiresAt: null;
  readonly cryptoAddress: null;
  readonly cryptoAmount: null;
  readonly cryptoNetwork: null;
  readonly cryptoCurrency: null;
  readonly providerFee: number | null;
  readonly platformFee: number | null;
  readonly netAmount: number | null;
  readonly createdAt: string;
  readonly paidAt: string | null;
}

export const transactionView = (payment: ExistingPayment): TransactionView => {
  const { terms } = payment.charge;
  const pix = 'pix' in payment.charge ? payment.charge.pix : null;
  const settlement = payment.transaction.status === 'settled' ? payment.transaction.settlement : null;
  return {
    id: terms.paymentId,
    status: transactionStatus(payment),
    amount: terms.amount,
    currency: terms.currency,
    paymentMethods: terms.methods,
    paidWith: settlement?.method ?? null,
    customerName: terms.customer.name,
    customerDocument: terms.customer.document,
    customerEmail: terms.customer.email,
    metadata: terms.metadata,
    pixQrCode: null,
    pixCopyPaste: pix?.brCode ?? null,
    pixExpiresAt: pix?.expiresAt ?? null,
    cardRedirectUrl: null,
    mbEntity: null,
    mbReference: null,
    mbExpiresAt: null,
    boletoBarcode: null,
    boletoLine: null,
    boletoPdfUrl: null,
    boletoExpiresAt: null,
    cryptoAddress: null,
    cryptoAmount: null,
    cryptoNetwork: null,
    cryptoCurrency: null,
    providerFee: settlement?.providerFee ?? null,
    platformFee: settlement?.platformFee ?? null,
    netAmount: settlement?.netAmount ?? null,
    createdAt: terms.createdAt,
    paidAt: settlement?.receipt.paidAt ?? null,
  };
};
