import { expect } from 'chai';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { type ChargeView, chargeView, checkoutUrl } from '../../../domain/wire/charge.ts';
import { transactionView } from '../../../domain/wire/transaction.ts';
import {
  created,
  expired,
  failed,
  held,
  issued,
  LOCKED_TO,
  PAYMENT_ID,
  paymentAfter,
  returned,
  sentBack,
  settled,
  TXID,
  terms,
} from '../../support/samples.ts';

const OPEN = [created(), issued()];
const customer = { name: 'Maria', document: '999.911.111-40', email: 'maria@example.com', phone: null };
const metadata = { order: 'A-1', description: 'Two coffees' };
const URL = `https://pay.example.com/pay/${PAYMENT_ID}`;
const pix = {
  br_code: '00020126…6304ABCD',
  qr_code_url: `${URL}/qr.png`,
  expires_at: '2026-11-21T14:00:00.000Z',
  txid: TXID,
};

const pending = {
  id: `ch_${PAYMENT_ID}`,
  object: 'charge',
  amount: 12_345,
  currency: 'BRL',
  status: 'pending',
  payment_method: 'pix',
  customer,
  pix,
  checkout_url: URL,
  settlement: {},
  metadata,
  created_at: '2026-11-21T13:00:00.000Z',
};
const { pix: _, ...withoutPix } = pending;
const expiry = {
  reason: 'The Pix code expired without payment.',
  providerErrorCode: 'expired',
  ttlSeconds: 3600,
  at: '2026-11-21T14:00:00.000Z',
};
const refusal = {
  reason: 'The bank said no.',
  providerErrorCode: 'declined',
  ttlSeconds: 3600,
  at: '2026-11-21T13:00:00.000Z',
};
const settlement = { end_to_end_id: 'E9999900420261121130500000000001' };

const CHARGES: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['pending, without an instrument', [created()], withoutPix],
  ['pending', OPEN, pending],
  ['paid', [...OPEN, settled()], { ...pending, status: 'paid', settlement }],
  ['paid in time after all', [...OPEN, expired(), settled()], { ...pending, status: 'paid', settlement }],
  ['processing: held for review', [...OPEN, held()], { ...pending, status: 'processing' }],
  ['processing: on its way back', [...OPEN, sentBack('payer_mismatch')], { ...pending, status: 'processing' }],
  ['refunded by the payer lock', [...OPEN, sentBack('payer_mismatch'), returned()], { ...pending, status: 'refunded' }],
  ['expired', [...OPEN, expired()], { ...pending, status: 'expired', metadata: { ...metadata, failure: expiry } }],
  ['failed', [created(), failed()], { ...withoutPix, status: 'failed', metadata: { ...metadata, failure: refusal } }],
];

describe('chargeView', () => {
  for (const [name, history, view] of CHARGES)
    it(`${name}: exactly these fields`, () => {
      const shown = chargeView(paymentAfter(...history));
      expect(shown).to.deep.equal(view);
      expect(JSON.parse(JSON.stringify(shown))).to.deep.equal(view);
    });
  it('echoes the payer lock, and never the real payer', () => {
    const locked = { ...pending, expected_payer_tax_id: LOCKED_TO };
    const history = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
    expect(chargeView(paymentAfter(...history))).to.deep.equal(locked);
    const paid = JSON.stringify(chargeView(paymentAfter(...OPEN, settled())));
    expect(paid).not.to.contain('MARIA DE TESTE').and.not.to.contain(LOCKED_TO).and.not.to.contain('sandbox');
  });
  it('has its fields in the order of the interface', () => {
    const shown: ChargeView = chargeView(paymentAfter(created({ expectedPayerTaxId: LOCKED_TO }), issued()));
    expect(Object.keys(shown)).to.deep.equal([...Object.keys(pending), 'expected_payer_tax_id']);
  });
  it('all of a customer who was not sent is null', () => {
    const nobody = { name: null, document: null, email: null, phone: null };
    expect(chargeView(paymentAfter(created({ customer: nobody }))).customer).to.deep.equal(nobody);
  });
  it('links to the base of its creation (K3)', () =>
    expect(checkoutUrl(terms({ baseUrl: 'http://x:1' }))).to.equal(`http://x:1/pay/${PAYMENT_ID}`));
});

const NONE = {
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
};
const waiting = {
  id: PAYMENT_ID,
  status: 'WAITING_PAYMENT',
  amount: 12_345,
  currency: 'BRL',
  paymentMethods: ['PIX'],
  paidWith: null,
  customerName: 'Maria',
  customerDocument: '999.911.111-40',
  customerEmail: 'maria@example.com',
  metadata,
  pixQrCode: null,
  pixCopyPaste: '00020126…6304ABCD',
  pixExpiresAt: '2026-11-21T14:00:00.000Z',
  ...NONE,
  providerFee: null,
  platformFee: null,
  netAmount: null,
  createdAt: '2026-11-21T13:00:00.000Z',
  paidAt: null,
};
const noInstrument = { ...waiting, pixCopyPaste: null, pixExpiresAt: null };
const paid = {
  paidWith: 'PIX',
  providerFee: 10,
  platformFee: 123,
  netAmount: 12_212,
  paidAt: '2026-11-21T13:05:00.000Z',
};
const TRANSACTIONS: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['PENDING', [created()], { ...noInstrument, status: 'PENDING' }],
  ['WAITING_PAYMENT', OPEN, waiting],
  ['PAID', [...OPEN, settled()], { ...waiting, status: 'PAID', ...paid }],
  ['PROCESSING', [...OPEN, held()], { ...waiting, status: 'PROCESSING' }],
  ['REFUNDED', [...OPEN, sentBack('payer_mismatch'), returned()], { ...waiting, status: 'REFUNDED' }],
  ['EXPIRED', [...OPEN, expired()], { ...waiting, status: 'EXPIRED' }],
  ['REFUSED', [created(), failed()], { ...noInstrument, status: 'REFUSED' }],
];

describe('transactionView', () => {
  for (const [name, history, view] of TRANSACTIONS)
    it(`${name}: exactly these fields, in this order`, () => {
      const shown = transactionView(paymentAfter(...history));
      expect(shown).to.deep.equal(view);
      expect(Object.keys(shown)).to.deep.equal(Object.keys(waiting));
    });
});
