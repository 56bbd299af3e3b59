// What the payer's pages and documents show of a payment, from its state.
import type { ChargeTerms } from '../../domain/charge/charge.ts';
import { type BoletoInstrument, lastExpiry } from '../../domain/charge/instruments.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { publicStatus } from '../../domain/wire/status.ts';
import type { BoletoFacts } from './boletoPdf.ts';
import type { CheckoutView } from './checkout/view.ts';
import type { LiveStatus } from './statusStreams.ts';

/** `now` is the account's time. */
export const liveStatusOf = (payment: ExistingPayment, now: Timestamp): LiveStatus => ({
  status: publicStatus(payment),
  expires_at: lastExpiry(payment.charge.instruments),
  now,
});

export const checkoutViewOf = (payment: ExistingPayment, now: Timestamp): CheckoutView => {
  const { paymentId, amount, currency, mode } = payment.charge.terms;
  return {
    rawId: paymentId,
    amount,
    currency,
    status: publicStatus(payment),
    instruments: payment.charge.instruments,
    now,
    testMode: mode === 'test',
  };
};

/** `metadata.returnUrl` where it is an http(s) URL (P3), else null. */
export const returnUrlOf = ({ metadata }: ChargeTerms): string | null => {
  const url = metadata['returnUrl'];
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  return parsed && ['http:', 'https:'].includes(parsed.protocol) ? parsed.href : null;
};

export const boletoFactsOf = (terms: ChargeTerms, boleto: BoletoInstrument, receiverName: string): BoletoFacts => ({
  mode: terms.mode,
  line: boleto.line,
  barcode: boleto.barcode,
  amount: terms.amount,
  issuedAt: terms.createdAt,
  dueAt: boleto.expiresAt,
  receiverName,
  payerName: terms.customer.name,
  payerDocument: terms.customer.document,
  transactionId: PREFIX.transaction + terms.paymentId,
});
