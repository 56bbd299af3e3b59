// The public Transaction (payment). Fields that don't apply are null.
import { findInstrument, type Instruments } from '../charge/instruments.ts';
import type { Json } from '../kernel/json.ts';
import type { ExistingPayment } from '../payment/payment.ts';
import { amountRefunded, type TransactionStatus, transactionStatus } from './status.ts';

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
  /** Data URL of a PNG. Only the read route fills it in (I6), because it holds the renderer. */
  readonly pixQrCode: string | null;
  readonly pixCopyPaste: string | null;
  readonly pixExpiresAt: string | null;
  readonly cardRedirectUrl: string | null;
  readonly mbEntity: string | null;
  readonly mbReference: string | null;
  readonly mbExpiresAt: string | null;
  readonly boletoBarcode: string | null;
  readonly boletoLine: string | null;
  readonly boletoPdfUrl: string | null;
  readonly boletoExpiresAt: string | null;
  readonly cryptoAddress: string | null;
  /** Decimal text in whole coins. */
  readonly cryptoAmount: string | null;
  readonly cryptoNetwork: string | null;
  readonly cryptoCurrency: string | null;
  readonly providerFee: number | null;
  readonly platformFee: number | null;
  readonly netAmount: number | null;
  readonly amountRefunded: number;
  readonly createdAt: string;
  readonly paidAt: string | null;
}

/** Returns the response of POST /v1/payments. The remaining fields are filled in when the acquirer has accepted it. */
export const createdTransactionView = (payment: ExistingPayment) => {
  const {
    id,
    status,
    amount,
    currency,
    paymentMethods,
    customerName,
    customerDocument,
    customerEmail,
    metadata,
    createdAt,
  } = transactionView(payment);
  const customer = { customerName, customerDocument, customerEmail };
  return { id, status, amount, currency, paymentMethods, ...customer, metadata, createdAt };
};

export const transactionView = (payment: ExistingPayment): TransactionView => {
  const { terms } = payment.charge;
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
    ...methodFields(payment.charge.instruments),
    providerFee: settlement?.providerFee ?? null,
    platformFee: settlement?.platformFee ?? null,
    netAmount: settlement?.netAmount ?? null,
    amountRefunded: amountRefunded(payment),
    createdAt: terms.createdAt,
    paidAt: settlement?.incoming.paidAt ?? null,
  };
};

/** Returns the instrument fields; null for methods that the payment doesn't have. */
export const methodFields = (instruments: Instruments) => {
  const { pix } = instruments;
  const multibanco = findInstrument(instruments, 'MULTIBANCO');
  const boleto = findInstrument(instruments, 'BOLETO');
  const crypto = findInstrument(instruments, 'CRYPTO');
  return {
    pixQrCode: null,
    pixCopyPaste: pix?.brCode ?? null,
    pixExpiresAt: pix?.expiresAt ?? null,
    cardRedirectUrl: findInstrument(instruments, 'CREDIT_CARD')?.redirectUrl ?? null,
    mbEntity: multibanco?.entity ?? null,
    mbReference: multibanco?.mbReference ?? null,
    mbExpiresAt: multibanco?.expiresAt ?? null,
    boletoBarcode: boleto?.barcode ?? null,
    boletoLine: boleto?.line ?? null,
    boletoPdfUrl: boleto?.pdfUrl ?? null,
    boletoExpiresAt: boleto?.expiresAt ?? null,
    cryptoAddress: crypto?.address ?? null,
    cryptoAmount: crypto?.amount ?? null,
    cryptoNetwork: crypto?.network ?? null,
    cryptoCurrency: crypto?.currency ?? null,
  };
};
