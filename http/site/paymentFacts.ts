// Derives the data of payers' pages and documents from a payment's state.

import type { Logo } from '../../application/ports/logos.ts';
import type { AccountSettings } from '../../domain/account/account.ts';
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { type BoletoInstrument, lastExpiry } from '../../domain/charge/instruments.ts';
import { isReturnUrl } from '../../domain/charge/request.ts';
import { ZERO } from '../../domain/kernel/money.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { checkoutUrl } from '../../domain/presentation/charge.ts';
import { publicStatus } from '../../domain/presentation/status.ts';
import { refundedAmount } from '../../domain/transaction/refunds.ts';
import type { LiveStatus } from '../kernel/serverContext.ts';
import type { BoletoFacts } from './boletoPdf.ts';
import type { CheckoutView } from './checkout/view.ts';
import type { ReceiptFacts } from './receiptPdf.ts';

/** `now` is the account's time. */
export const liveStatusOf = (payment: ExistingPayment, now: Timestamp): LiveStatus => ({
  status: publicStatus(payment),
  expires_at: lastExpiry(payment.charge.instruments),
  now,
});

/** The account settings that pages and documents show. */
export type Merchant = Pick<AccountSettings, 'merchantName' | 'taxId' | 'logo' | 'color'>;

/** The data of a page besides the payment. */
export interface PageContext {
  readonly merchant: Merchant;
  readonly now: Timestamp;
}

export const checkoutViewOf = (payment: ExistingPayment, context: PageContext): CheckoutView => {
  const { charge, transaction } = payment;
  const { paymentId, amount, currency, mode, metadata, expectedPayerTaxId } = charge.terms;
  const description = metadata['description'];
  return {
    rawId: paymentId,
    amount,
    currency,
    status: publicStatus(payment),
    instruments: charge.instruments,
    now: context.now,
    testMode: mode === 'test',
    merchantName: context.merchant.merchantName,
    logo: context.merchant.logo,
    color: context.merchant.color,
    description: typeof description === 'string' && description !== '' ? description : null,
    payerLock: expectedPayerTaxId === null ? null : expectedPayerTaxId.length === 11 ? 'CPF' : 'CNPJ',
    refunded: transaction.status === 'settled' ? refundedAmount(transaction.refunds) : ZERO,
    returnUrl: returnUrlOf(charge.terms),
  };
};

/** Returns `metadata.returnUrl` if payers may be sent there (rule P3), or null. */
export const returnUrlOf = ({ metadata }: ChargeTerms): string | null => {
  const url = metadata['returnUrl'];
  return isReturnUrl(url) ? new URL(url).href : null;
};

/** Returns the data of the receipt, or null if the payment is not settled. */
export const receiptFactsOf = (
  { charge: { terms }, transaction }: ExistingPayment,
  { merchantName, taxId: merchantTaxId }: Pick<Merchant, 'merchantName' | 'taxId'>,
  logo: Logo | null,
): ReceiptFacts | null => {
  if (transaction.status !== 'settled') return null;
  const { incoming, method, currency } = transaction.settlement;
  return {
    mode: terms.mode,
    merchantName,
    merchantTaxId,
    logo: logo?.bytes ?? null,
    amount: incoming.amount,
    currency,
    method,
    paidAt: incoming.paidAt,
    reference: incoming.providerPaymentId,
    payerName: incoming.payer.name,
    payerDocument: incoming.payer.document,
    transactionId: PAYMENT.idPrefix + terms.paymentId,
    refunded: refundedAmount(transaction.refunds),
    verificationUrl: checkoutUrl(terms),
  };
};

/** Removes the payer from documents that anyone with the payment's link can open (I7). */
export const withoutPayer = <Facts extends { payerName: string | null; payerDocument: string | null }>(
  facts: Facts,
): Facts => ({ ...facts, payerName: null, payerDocument: null });

export const boletoFactsOf = (
  terms: ChargeTerms,
  boleto: BoletoInstrument,
  { merchantName, taxId: merchantTaxId }: Pick<Merchant, 'merchantName' | 'taxId'>,
): BoletoFacts => ({
  mode: terms.mode,
  line: boleto.line,
  barcode: boleto.barcode,
  amount: terms.amount,
  issuedAt: terms.createdAt,
  dueAt: boleto.expiresAt,
  merchantName,
  merchantTaxId,
  payerName: terms.customer.name,
  payerDocument: terms.customer.document,
  transactionId: PAYMENT.idPrefix + terms.paymentId,
});
