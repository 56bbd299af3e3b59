// Payments as the payer’s pages receive them.

import type { AcquirerInstrument, Instruments, PixInstrument } from '../../../domain/charge/instruments.ts';
import type { CheckoutView } from '../../../http/site/checkout/view.ts';
import { parseTimestamp } from '../../support/timestamp.ts';

/** `brCode` null means no Pix. `expiresAt` is that of Pix. */
export type CheckoutChanges = Partial<Omit<CheckoutView, 'instruments'>> & {
  readonly brCode?: string | null;
  readonly expiresAt?: string;
  readonly others?: readonly AcquirerInstrument[];
};

export const CHECKOUT_RAW_ID = '01hzy3v7q9k2m4n6p8r0s2t4v6';

/** Returns a pending test charge of R$ 1,00 at 13:00, with Pix due at 13:30, except for the changes. */
export const checkoutViewOf = (changes: CheckoutChanges): CheckoutView => {
  const { brCode = '00020126', expiresAt = '2026-11-21T13:30:00.000Z', others = [], ...rest } = changes;
  const pix: PixInstrument | null =
    brCode === null
      ? null
      : { provider: 'sandbox', txid: '0'.repeat(32), brCode, expiresAt: parseTimestamp(expiresAt) };
  const instruments: Instruments = { pix, acquirerInstruments: others };
  return {
    rawId: CHECKOUT_RAW_ID,
    amount: 100,
    currency: 'BRL',
    status: 'pending',
    now: '2026-11-21T13:00:00.000Z',
    testMode: true,
    merchantName: 'Padaria São João',
    logo: null,
    color: null,
    description: null,
    payerLock: null,
    refunded: 0,
    returnUrl: null,
    ...rest,
    instruments,
  };
};

const expiresAt = parseTimestamp('2026-11-24T13:00:00.000Z');
const soon = parseTimestamp('2026-11-21T13:30:00.000Z');
const made = { provider: 'sandbox', reference: 'acq_1', expiresAt };

/** One instrument of every method except Pix. */
export const OTHERS = {
  boleto: {
    ...made,
    method: 'BOLETO',
    barcode: '00193373700000001000500940144816060680935031',
    line: '00190500954014481606906809350314337370000000100',
    pdfUrl: 'https://pay.example/pay/x/boleto.pdf',
  },
  card: { ...made, expiresAt: soon, method: 'CREDIT_CARD', redirectUrl: 'https://pay.example/pay/x/card' },
  mbWay: { ...made, expiresAt: soon, method: 'MBWAY', phone: '+351912345678' },
  multibanco: { ...made, method: 'MULTIBANCO', entity: '21800', mbReference: '123456789' },
  crypto: {
    ...made,
    expiresAt: soon,
    method: 'CRYPTO',
    address: 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh',
    amount: '0.00012345',
    network: 'BITCOIN',
    currency: 'BTC',
  },
} as const satisfies Record<string, AcquirerInstrument>;
