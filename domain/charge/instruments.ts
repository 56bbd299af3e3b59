// Payment instruments: one per method, issued by a provider, each with its own expiry (rule I8a).
import { ERASED, oneOf, record, taggedBy, text, time } from '../kernel/serde.ts';
import { later, type Timestamp } from '../kernel/time.ts';
import type { PaymentMethod } from './methods.ts';

/** The Pix pay code that a provider issued for the charge. */
export interface PixInstrument {
  readonly provider: string;
  /** 32 characters `[a-z0-9]`, independent of the charge id (I3). */
  readonly txid: string;
  readonly brCode: string;
  readonly expiresAt: Timestamp;
}

interface IssuedByAcquirer {
  readonly provider: string;
  /** The acquirer's transaction id. */
  readonly reference: string;
  readonly expiresAt: Timestamp;
}
export interface CardInstrument extends IssuedByAcquirer {
  readonly method: 'CREDIT_CARD';
  /** Page on which the payer enters the card. */
  readonly redirectUrl: string;
}
export interface MbWayInstrument extends IssuedByAcquirer {
  readonly method: 'MBWAY';
  /** E.164 number on which the payer confirms in the app. */
  readonly phone: string;
}
export interface MultibancoInstrument extends IssuedByAcquirer {
  readonly method: 'MULTIBANCO';
  /** 5 digits. */
  readonly entity: string;
  /** 9 digits; the last two are check digits. */
  readonly mbReference: string;
}
export interface BoletoInstrument extends IssuedByAcquirer {
  readonly method: 'BOLETO';
  /** 44 digits. */
  readonly barcode: string;
  /** 47 digits: the barcode in the form that a payer types. */
  readonly line: string;
  readonly pdfUrl: string;
}
export interface CryptoInstrument extends IssuedByAcquirer {
  readonly method: 'CRYPTO';
  readonly address: string;
  /** Decimal text in whole coins, not in the smallest unit. */
  readonly amount: string;
  readonly network: string;
  readonly currency: string;
}
export type AcquirerInstrument =
  | CardInstrument
  | MbWayInstrument
  | MultibancoInstrument
  | BoletoInstrument
  | CryptoInstrument;

const bound = { provider: text(), reference: text(), expiresAt: time };
export const acquirerInstrument = taggedBy<'method', AcquirerInstrument>('method', {
  CREDIT_CARD: record<CardInstrument>({ method: oneOf('CREDIT_CARD'), ...bound, redirectUrl: text() }),
  MBWAY: record<MbWayInstrument>({ method: oneOf('MBWAY'), ...bound, phone: text() }),
  MULTIBANCO: record<MultibancoInstrument>({
    method: oneOf('MULTIBANCO'),
    ...bound,
    entity: text(),
    mbReference: text(),
  }),
  BOLETO: record<BoletoInstrument>({
    method: oneOf('BOLETO'),
    ...bound,
    barcode: text(),
    line: text(),
    pdfUrl: text(),
  }),
  CRYPTO: record<CryptoInstrument>({
    method: oneOf('CRYPTO'),
    ...bound,
    address: text(),
    amount: text(),
    network: text(),
    currency: text(),
  }),
});

/** Data with which a payer pays, and a phone number. Other fields are terms and references. */
// biome-ignore format: one line
export const PERSONAL_INSTRUMENT_FIELDS = ['redirectUrl', 'phone', 'entity', 'mbReference', 'barcode', 'line', 'pdfUrl', 'address'] as const;

/** Returns the instrument without personal data. */
export const erasedInstrument = (instrument: AcquirerInstrument): AcquirerInstrument => {
  const fields = PERSONAL_INSTRUMENT_FIELDS.filter((field) => field in instrument);
  return { ...instrument, ...Object.fromEntries(fields.map((field) => [field, ERASED])) };
};

/** The instruments of a charge. An open charge has at least one. */
export interface Instruments {
  readonly pix: PixInstrument | null;
  readonly acquirerInstruments: readonly AcquirerInstrument[];
}

export const NO_INSTRUMENTS: Instruments = { pix: null, acquirerInstruments: [] };

export const hasInstrument = ({ pix, acquirerInstruments }: Instruments, method: PaymentMethod): boolean =>
  method === 'PIX' ? pix !== null : acquirerInstruments.some((one) => one.method === method);

export const findInstrument = <M extends AcquirerInstrument['method']>(
  { acquirerInstruments }: Instruments,
  method: M,
): Extract<AcquirerInstrument, { method: M }> | null =>
  (acquirerInstruments.find((one) => one.method === method) as
    | Extract<AcquirerInstrument, { method: M }>
    | undefined) ?? null;

/** Returns the expiry of the method's instrument, or null if it has no instrument. */
export const instrumentExpiry = ({ pix, acquirerInstruments }: Instruments, method: PaymentMethod): Timestamp | null =>
  (method === 'PIX' ? pix : acquirerInstruments.find((one) => one.method === method))?.expiresAt ?? null;

/** Returns the latest expiry of all instruments, when the payment expires (I8a), or null if there is no instrument yet. */
export const lastExpiry = ({ pix, acquirerInstruments }: Instruments): Timestamp | null =>
  [...(pix ? [pix] : []), ...acquirerInstruments]
    .map(({ expiresAt }) => expiresAt)
    .reduce<Timestamp | null>((last, one) => (last === null ? one : later(last, one)), null);
