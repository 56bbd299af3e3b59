// Sample instruments of every method.

import type { InstrumentRequest, Issued } from '../../application/ports/paymentProvider.ts';
import type {
  AcquirerInstrument,
  BoletoInstrument,
  CardInstrument,
  CryptoInstrument,
  MbWayInstrument,
  MultibancoInstrument,
} from '../../domain/charge/instruments.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { parseTimestamp } from '../support/timestamp.ts';

const CREATED_AT = parseTimestamp('2026-11-21T13:00:00.000Z');
const bound = (reference: string, expiresAt: string) => ({
  provider: 'sandbox',
  reference,
  expiresAt: parseTimestamp(expiresAt),
});

/** Expires 30 minutes after the samples' creation (P5). */
export const card = (over: Partial<CardInstrument> = {}): CardInstrument => ({
  method: 'CREDIT_CARD',
  ...bound('card-1', '2026-11-21T13:30:00.000Z'),
  redirectUrl: 'https://cards.example.com/card-1',
  ...over,
});
export const mbWay = (over: Partial<MbWayInstrument> = {}): MbWayInstrument => ({
  method: 'MBWAY',
  ...bound('mbway-1', '2026-11-21T13:30:00.000Z'),
  phone: '+351912345678',
  ...over,
});
/** Expires 3 days after the samples' creation, earlier than a real one (P5). */
export const multibanco = (over: Partial<MultibancoInstrument> = {}): MultibancoInstrument => ({
  method: 'MULTIBANCO',
  ...bound('mb-1', '2026-11-24T13:00:00.000Z'),
  entity: '11249',
  mbReference: '123456789',
  ...over,
});
export const boleto = (over: Partial<BoletoInstrument> = {}): BoletoInstrument => ({
  method: 'BOLETO',
  ...bound('boleto-1', '2026-11-24T13:00:00.000Z'),
  barcode: '0'.repeat(44),
  line: '0'.repeat(47),
  pdfUrl: 'https://pay.example.com/boleto.pdf',
  ...over,
});
export const crypto = (over: Partial<CryptoInstrument> = {}): CryptoInstrument => ({
  method: 'CRYPTO',
  ...bound('crypto-1', '2026-11-21T14:00:00.000Z'),
  address: 'bc1qexample',
  amount: '0.00012345',
  network: 'bitcoin',
  currency: 'BTC',
  ...over,
});

const OTHERS: { readonly [M in AcquirerInstrument['method']]: () => AcquirerInstrument } = {
  CREDIT_CARD: card,
  MBWAY: mbWay,
  MULTIBANCO: multibanco,
  BOLETO: boleto,
  CRYPTO: crypto,
};

/** Returns the instrument that a provider issues for a request, with the request's txid and expiry. */
export const sampleInstrument = (
  { method, txid, expiresAt }: Pick<InstrumentRequest, 'method' | 'txid' | 'expiresAt'>,
  provider: string,
): Issued => {
  if (method === 'PIX') return { method, instrument: { provider, txid, brCode: `code-${txid}`, expiresAt } };
  const reference = `${method}-${txid}`;
  return { method, instrument: { ...OTHERS[method](), provider, reference, expiresAt } };
};

export const otherIssued = (instrument: AcquirerInstrument, at = CREATED_AT): PaymentEvent => ({
  type: 'ChargeInstrumentIssued',
  data: { instrument, at },
});
