import { expect } from 'chai';
import { PAYMENT_METHODS, type PaymentMethod } from '../../../domain/charge/methods.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { type ChargeView, chargeView, checkoutUrl } from '../../../domain/presentation/charge.ts';
import { createdTransactionView, transactionView } from '../../../domain/presentation/transaction.ts';
import {
  cancelled,
  cancelRequested,
  created,
  disputeOpened,
  expired,
  failed,
  held,
  heldRejected,
  heldReleased,
  issued,
  LOCKED_TO,
  OTHER_REFUND_ID,
  PAYMENT_ID,
  paymentAfter,
  processing,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  returned,
  sentBack,
  settled,
  settledByCard,
  TXID,
  terms,
} from '../../support/samples.ts';
import { boleto, card, crypto, mbWay, multibanco, otherIssued } from '../../world/instruments.ts';

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
  amount_refunded: 0,
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
  reason: 'The payment expired before anybody paid.',
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
const cancellation = {
  reason: 'The merchant cancelled the payment.',
  providerErrorCode: 'canceled',
  ttlSeconds: 3600,
  at: '2026-11-21T13:10:00.000Z',
};
const declined = { reason: 'insufficient funds', providerErrorCode: 'declined', at: '2026-11-21T13:04:30.000Z' };
const PART = { amount: toMinor(5_000) };
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const byCard = { ...withoutPix, payment_method: 'credit_card' };
const settlement = { end_to_end_id: 'E9999900420261121130500000000001' };

const CHARGES: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['pending before any instrument is issued', [created()], withoutPix],
  ['pending', OPEN, pending],
  ['paid', [...OPEN, settled()], { ...pending, status: 'paid', settlement }],
  [
    'paid in time, reported after the expiry',
    [...OPEN, expired(), settled()],
    { ...pending, status: 'paid', settlement },
  ],
  ['processing while held for review', [...OPEN, held()], { ...pending, status: 'processing' }],
  ['processing while being returned', [...OPEN, sentBack('payer_mismatch')], { ...pending, status: 'processing' }],
  [
    'refunded because of the payer lock',
    [...OPEN, sentBack('payer_mismatch'), returned()],
    { ...pending, status: 'refunded', amount_refunded: 12_345 },
  ],
  ['expired', [...OPEN, expired()], { ...pending, status: 'expired', metadata: { ...metadata, failure: expiry } }],
  ['failed', [created(), failed()], { ...withoutPix, status: 'failed', metadata: { ...metadata, failure: refusal } }],
  [
    'cancelled',
    [...OPEN, cancelRequested(), cancelled()],
    {
      ...pending,
      status: 'cancelled',
      metadata: { ...metadata, failure: cancellation },
    },
  ],
  [
    'cancelled before any instrument was issued',
    [created(), cancelRequested(), cancelled()],
    { ...withoutPix, status: 'cancelled', metadata: { ...metadata, failure: cancellation } },
  ],
  [
    'cancelled while a Pix was held',
    [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled'), returned()],
    {
      ...pending,
      status: 'cancelled',
      metadata: { ...metadata, failure: cancellation },
    },
  ],
  ['pending after a cancellation request', [...OPEN, cancelRequested()], pending],
  [
    'processing while held for review after the expiry, without a failure',
    [...OPEN, expired(), held()],
    { ...pending, status: 'processing' },
  ],
  [
    'paid after an operator released the held payment',
    [...OPEN, held(), heldReleased(), settled()],
    { ...pending, status: 'paid', settlement },
  ],
  [
    'refunded, still with its settlement',
    [...OPEN, settled(), refundReserved(), refundCompleted()],
    { ...pending, status: 'refunded', settlement, amount_refunded: 12_345 },
  ],
  [
    'partly refunded',
    [...OPEN, settled(), refundReserved(PART), refundCompleted(PART)],
    { ...pending, status: 'paid', settlement, amount_refunded: 5_000 },
  ],
  [
    'paid with a pending and a failed refund, with nothing refunded (I15)',
    [
      ...OPEN,
      settled(),
      refundReserved(PART),
      refundReleased(PART),
      refundReserved({ ...PART, refundId: OTHER_REFUND_ID }),
    ],
    { ...pending, status: 'paid', settlement },
  ],
  [
    'pending after a wrong amount was returned, with nothing refunded',
    [...OPEN, sentBack('wrong_amount'), returned()],
    pending,
  ],
  ['pending by card, without a pix block', CARD, byCard],
  ['processing by card', [...CARD, processing()], { ...byCard, status: 'processing' }],
  ['paid by card, without an end-to-end id', [...CARD, settledByCard()], { ...byCard, status: 'paid' }],
  [
    'disputed card payment',
    [...CARD, settledByCard(), disputeOpened()],
    {
      ...byCard,
      status: 'disputed',
      metadata: {
        ...byCard.metadata,
        med: {
          referenceId: 'card-1',
          status: 'delivered',
          method: 'scam',
          reason: 'fraud',
          payerName: 'Ana',
          payerDocument: '99991111140',
          openedAt: '2026-11-21T15:59:00.000Z',
          updatedAt: '2026-11-21T15:59:00.000Z',
          lastEventAt: '2026-11-21T16:00:00.000Z',
          amountMismatch: false,
        },
      },
    },
  ],
  [
    'declined card payment, without ttlSeconds',
    [...CARD, refused('CREDIT_CARD', true)],
    { ...byCard, status: 'failed', metadata: { ...metadata, failure: declined } },
  ],
  [
    'several methods, with payment_method of the first and a pix block',
    [created({ methods: ['BOLETO', 'PIX'] }), issued(), otherIssued(boleto())],
    { ...pending, payment_method: 'boleto' },
  ],
  [
    'several methods, pending after one was declined',
    [created({ methods: ['CREDIT_CARD', 'PIX'] }), issued(), otherIssued(card()), refused('CREDIT_CARD', false)],
    { ...pending, payment_method: 'credit_card' },
  ],
];
const METHOD_NAMES = ['pix', 'credit_card', 'mbway', 'multibanco', 'boleto', 'crypto'];

describe('chargeView', () => {
  for (const [name, history, view] of CHARGES)
    it(`has exactly these fields: ${name}`, () => {
      const shown = chargeView(paymentAfter(...history));
      expect(shown).to.deep.equal(view);
      expect(JSON.parse(JSON.stringify(shown))).to.deep.equal(view);
    });
  it('shows each method in lower case (I8)', () => {
    const names = PAYMENT_METHODS.map(
      (method) => chargeView(paymentAfter(created({ methods: [method] }))).payment_method,
    );
    expect(names).to.deep.equal(METHOD_NAMES);
  });
  it('shows the payer lock, but never the actual payer', () => {
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
  it('shows a missing customer as fields of null', () => {
    const nobody = { name: null, document: null, email: null, phone: null };
    expect(chargeView(paymentAfter(created({ customer: nobody }))).customer).to.deep.equal(nobody);
  });
  it('links to the base URL of the charge’s creation (K3)', () =>
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
  amountRefunded: 0,
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
const paidByCard = {
  paidWith: 'CREDIT_CARD',
  providerFee: 339,
  platformFee: 123,
  netAmount: 11_883,
  paidAt: '2026-11-21T13:05:00.000Z',
};
const INSTRUMENTS = {
  CREDIT_CARD: card(),
  MBWAY: mbWay(),
  MULTIBANCO: multibanco(),
  BOLETO: boleto(),
  CRYPTO: crypto(),
};
const FIELDS = {
  CREDIT_CARD: { cardRedirectUrl: 'https://cards.example.com/card-1' },
  MBWAY: {},
  MULTIBANCO: { mbEntity: '11249', mbReference: '123456789', mbExpiresAt: '2026-11-24T13:00:00.000Z' },
  BOLETO: {
    boletoBarcode: '0'.repeat(44),
    boletoLine: '0'.repeat(47),
    boletoPdfUrl: 'https://pay.example.com/boleto.pdf',
    boletoExpiresAt: '2026-11-24T13:00:00.000Z',
  },
  CRYPTO: {
    cryptoAddress: 'bc1qexample',
    cryptoAmount: '0.00012345',
    cryptoNetwork: 'bitcoin',
    cryptoCurrency: 'BTC',
  },
};
const waitingBy = (method: keyof typeof FIELDS) => ({ ...noInstrument, ...FIELDS[method], paymentMethods: [method] });
const waitingFor = {
  CREDIT_CARD: waitingBy('CREDIT_CARD'),
  MBWAY: waitingBy('MBWAY'),
  MULTIBANCO: waitingBy('MULTIBANCO'),
  BOLETO: waitingBy('BOLETO'),
  CRYPTO: waitingBy('CRYPTO'),
};
const TRANSACTIONS: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['PENDING', [created()], { ...noInstrument, status: 'PENDING' }],
  ['WAITING_PAYMENT', OPEN, waiting],
  ['PAID', [...OPEN, settled()], { ...waiting, status: 'PAID', ...paid }],
  ['PROCESSING', [...OPEN, held()], { ...waiting, status: 'PROCESSING' }],
  [
    'REFUNDED',
    [...OPEN, sentBack('payer_mismatch'), returned()],
    { ...waiting, status: 'REFUNDED', amountRefunded: 12_345 },
  ],
  ['EXPIRED', [...OPEN, expired()], { ...waiting, status: 'EXPIRED' }],
  ['REFUSED', [created(), failed()], { ...noInstrument, status: 'REFUSED' }],
  ['CANCELLED', [...OPEN, cancelRequested(), cancelled()], { ...waiting, status: 'CANCELLED' }],
  [
    'REFUNDED by the merchant',
    [...OPEN, settled(), refundReserved(), refundCompleted()],
    { ...waiting, status: 'REFUNDED', ...paid, amountRefunded: 12_345 },
  ],
  [
    'PAID, partly refunded',
    [...OPEN, settled(), refundReserved(PART), refundCompleted(PART)],
    { ...waiting, status: 'PAID', ...paid, amountRefunded: 5_000 },
  ],
  ['PROCESSING by card', [...CARD, processing()], { ...waitingFor.CREDIT_CARD, status: 'PROCESSING' }],
  ['APPROVED', [...CARD, settledByCard()], { ...waitingFor.CREDIT_CARD, status: 'APPROVED', ...paidByCard }],
  [
    'CHARGEBACK',
    [...CARD, settledByCard(), disputeOpened()],
    { ...waitingFor.CREDIT_CARD, status: 'CHARGEBACK', ...paidByCard },
  ],
  [
    'DISPUTE',
    [...CARD, settledByCard(), disputeOpened('DISPUTE')],
    { ...waitingFor.CREDIT_CARD, status: 'DISPUTE', ...paidByCard },
  ],
  ['REFUSED by the issuer', [...CARD, refused('CREDIT_CARD', true)], { ...waitingFor.CREDIT_CARD, status: 'REFUSED' }],
  ...Object.entries(waitingFor).map(
    ([method, view]) =>
      [
        `WAITING_PAYMENT by ${method}`,
        [created({ methods: [method as PaymentMethod] }), otherIssued(INSTRUMENTS[method as keyof typeof INSTRUMENTS])],
        view,
      ] as const,
  ),
  [
    'all methods at once (I8)',
    [created({ methods: PAYMENT_METHODS }), issued(), ...Object.values(INSTRUMENTS).map((one) => otherIssued(one))],
    {
      ...waiting,
      ...FIELDS.CREDIT_CARD,
      ...FIELDS.MULTIBANCO,
      ...FIELDS.BOLETO,
      ...FIELDS.CRYPTO,
      paymentMethods: PAYMENT_METHODS,
    },
  ],
];

describe('transactionView', () => {
  for (const [name, history, view] of TRANSACTIONS)
    it(`has exactly these fields in this order: ${name}`, () => {
      const shown = transactionView(paymentAfter(...history));
      expect(shown).to.deep.equal(view);
      expect(Object.keys(shown)).to.deep.equal(Object.keys(waiting));
    });
});

describe('createdTransactionView: the response of POST /v1/payments', () => {
  it('has exactly these fields in this order', () => {
    const answer = createdTransactionView(paymentAfter(created({ methods: ['BOLETO', 'PIX'], api: 'payments' })));
    const expected = {
      id: PAYMENT_ID,
      status: 'PENDING',
      amount: 12_345,
      currency: 'BRL',
      paymentMethods: ['BOLETO', 'PIX'],
      customerName: 'Maria',
      customerDocument: '999.911.111-40',
      customerEmail: 'maria@example.com',
      metadata,
      createdAt: '2026-11-21T13:00:00.000Z',
    };
    expect(answer).to.deep.equal(expected);
    expect(Object.keys(answer)).to.deep.equal(Object.keys(expected));
  });
});
