// The public Charge: an allow-list of fields. Merchants see only the fields listed here.
import type { ChargeFailure, ChargeTerms, Customer } from '../charge/charge.ts';
import { PREFIX } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { ExistingPayment } from '../payment/payment.ts';
import { medMetadata } from './medCase.ts';
import { amountRefunded, type PublicStatus, publicStatus } from './status.ts';

export interface ChargeView {
  readonly id: string;
  readonly object: 'charge';
  readonly amount: number;
  readonly amount_refunded: number;
  readonly currency: string;
  readonly status: PublicStatus;
  readonly payment_method: string;
  readonly customer: Customer;
  /** Present only for Pix, once the instrument exists. */
  readonly pix?: {
    readonly br_code: string;
    readonly qr_code_url: string;
    readonly expires_at: string;
    readonly txid: string;
  };
  readonly checkout_url: string;
  readonly settlement: { readonly end_to_end_id?: string };
  readonly metadata: { readonly [key: string]: Json };
  readonly created_at: string;
  readonly expected_payer_tax_id?: string;
}

export const checkoutUrl = ({ baseUrl, paymentId }: ChargeTerms): string => `${baseUrl}/pay/${paymentId}`;

export const chargeView = (payment: ExistingPayment): ChargeView => {
  const { terms } = payment.charge;
  const lock = terms.expectedPayerTaxId;
  return {
    id: PREFIX.charge + terms.paymentId,
    object: 'charge',
    amount: terms.amount,
    amount_refunded: amountRefunded(payment),
    currency: terms.currency,
    status: publicStatus(payment),
    payment_method: methodOf(payment).toLowerCase(),
    customer: terms.customer,
    ...pixBlock(payment),
    checkout_url: checkoutUrl(terms),
    settlement: settlementBlock(payment),
    metadata: metadataBlock(payment),
    created_at: terms.createdAt,
    ...(lock === null ? {} : { expected_payer_tax_id: lock }),
  };
};

/** Returns the method that paid; before payment, the first requested method (I8). */
const methodOf = ({ charge, transaction }: ExistingPayment): string =>
  transaction.status === 'settled' ? transaction.settlement.method : (charge.terms.methods[0] ?? 'PIX');

const pixBlock = ({ charge }: ExistingPayment): Pick<ChargeView, 'pix'> => {
  const { pix } = charge.instruments;
  if (pix === null) return {};
  const { brCode, expiresAt, txid } = pix;
  return { pix: { br_code: brCode, qr_code_url: `${checkoutUrl(charge.terms)}/qr.png`, expires_at: expiresAt, txid } };
};

const settlementBlock = ({ transaction }: ExistingPayment): ChargeView['settlement'] =>
  transaction.status === 'settled' && transaction.settlement.method === 'PIX'
    ? { end_to_end_id: transaction.settlement.incoming.providerPaymentId }
    : {};

/** Returns why the charge ended unpaid, or null if it is open or paid. */
const failureOf = ({ charge, transaction }: ExistingPayment): ChargeFailure | null => {
  if (transaction.status === 'refused') return transaction.failure;
  if (transaction.status !== 'none' && transaction.status !== 'processing') return null;
  return 'failure' in charge ? charge.failure : null;
};

/**
 * Returns the merchant's metadata, the failure and the dispute (contract.md Informative metadata blocks). `ttlSeconds` is the lifetime of
 * the QR code.
 */
const metadataBlock = (payment: ExistingPayment): ChargeView['metadata'] => {
  const { metadata, methods, expiresInSeconds } = payment.charge.terms;
  if (payment.transaction.status === 'settled') {
    const { dispute, settlement } = payment.transaction;
    return dispute === null
      ? metadata
      : { ...metadata, med: medMetadata(dispute, settlement.incoming.providerPaymentId) };
  }
  const failure = failureOf(payment);
  if (failure === null) return metadata;
  const { reason, providerErrorCode, at } = failure;
  const ttl = methods.includes('PIX') ? { ttlSeconds: expiresInSeconds } : {};
  return { ...metadata, failure: { reason, providerErrorCode, ...ttl, at } };
};
