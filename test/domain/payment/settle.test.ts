import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import {
  type PayerCheck,
  type SettleIncomingPayment,
  type SettleOutcome,
  settleIncomingPayment,
} from '../../../domain/payment/settle.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import { given } from '../../support/given.ts';
import {
  at,
  cancelled,
  cancelRequested,
  created,
  EXPIRES_AT,
  erased,
  expired,
  failed,
  held,
  incoming,
  issued,
  LOCKED_TO,
  OTHER_END_TO_END_ID,
  PAID_AT,
  processing,
  refused,
  returned,
  SETTINGS,
  SETTLED_AT,
  SOMEBODY_ELSE,
  sentBack,
  settled,
} from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const arriving = (
  over: Partial<IncomingPayment> = {},
  more: Partial<SettleIncomingPayment> = {},
): SettleIncomingPayment => ({
  incoming: incoming(over),
  isPlain: true,
  payerCheck: 'unknown',
  fees: DEFAULT_FEES,
  holdDays: SETTINGS.holdDays,
  returnId: 'return-1',
  at: SETTLED_AT,
  ...more,
});

const OPEN = [created(), issued()];
const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const second = { providerPaymentId: OTHER_END_TO_END_ID };
const wrong = { amount: toMinor(12_344) };
const late = { paidAt: at('14:00:01') };
const nameless = { payer: { name: 'X', document: null } };
const other = { payer: { name: 'X', document: SOMEBODY_ELSE } };

/** Payable by card for 30 minutes or by boleto for 3 days. */
const TWO = [created({ methods: ['CREDIT_CARD', 'BOLETO'] }), otherIssued(card()), otherIssued(boleto())];
const BY_CARD = { method: 'CREDIT_CARD' as const };
/** M1: 2.5% + 30 and 1% of 123.45, rounded half up. M2: held for 2 days. */
const byCard = (paidAt: Timestamp) =>
  settled({
    incoming: incoming({ ...BY_CARD, paidAt }),
    method: 'CREDIT_CARD',
    providerFee: toMinor(339),
    platformFee: toMinor(123),
    netAmount: toMinor(11_883),
    availableAt: parseTimestamp('2026-11-23T13:05:01.000Z'),
  });
/** M1: 1.5% and 1%. M2: held for 1 day. */
const byBoleto = (paidAt: Timestamp) =>
  settled({
    incoming: incoming({ method: 'BOLETO', paidAt }),
    method: 'BOLETO',
    providerFee: toMinor(185),
    platformFee: toMinor(123),
    netAmount: toMinor(12_037),
    availableAt: parseTimestamp('2026-11-22T13:05:01.000Z'),
  });

/** Every row breaks its own rule and all rules after it, so that the first applicable rule decides (settle.ts). */
const ORDER: readonly (readonly [
  string,
  readonly PaymentEvent[],
  Partial<IncomingPayment>,
  readonly PaymentEvent[],
  SettleOutcome,
])[] = [
  ['1 already recorded and settled', [...LOCKED, settled()], { ...wrong, ...late, ...other }, [], 'duplicate'],
  ['1 already recorded and held', [...LOCKED, held()], { ...wrong, ...late, ...other }, [], 'duplicate'],
  ['1 already recorded and rejected', [...OPEN, sentBack('wrong_amount')], { ...wrong, ...late }, [], 'duplicate'],
  [
    '1 already recorded and returned',
    [...OPEN, sentBack('wrong_amount'), returned()],
    { ...wrong, ...late },
    [],
    'duplicate',
  ],
  [
    '2 another payment is settled',
    [...LOCKED, settled()],
    { ...second, ...wrong, ...late, ...other },
    [sentBack('second_payment', { ...second, ...wrong, ...late, ...other })],
    'returned',
  ],
  [
    '2 another payment is held for review',
    [...LOCKED, held()],
    { ...second, ...wrong, ...late, ...nameless },
    [sentBack('second_payment', { ...second, ...wrong, ...late, ...nameless })],
    'returned',
  ],
  [
    '2 another payment is being returned because of the payer lock',
    [...LOCKED, sentBack('payer_mismatch', other)],
    { ...second, ...other },
    [sentBack('second_payment', { ...second, ...other })],
    'returned',
  ],
  [
    '2 another payment was returned because of the payer lock',
    [...LOCKED, sentBack('payer_mismatch', other), returned()],
    { ...second, ...late },
    [sentBack('second_payment', { ...second, ...late })],
    'returned',
  ],
  [
    '3 paid after the expiry',
    LOCKED,
    { ...wrong, ...late, ...other },
    [sentBack('charge_ended', { ...wrong, ...late, ...other })],
    'returned',
  ],
  [
    '3 paid after the expiry, which is recorded',
    [...OPEN, expired()],
    { ...wrong, ...late },
    [sentBack('charge_ended', { ...wrong, ...late })],
    'returned',
  ],
  [
    '3 the charge failed',
    [created({ expectedPayerTaxId: LOCKED_TO }), failed()],
    { ...wrong, ...other },
    [sentBack('charge_ended', { ...wrong, ...other })],
    'returned',
  ],
  [
    '3 the charge was cancelled',
    [...LOCKED, cancelRequested(), cancelled()],
    { ...wrong, ...other },
    [sentBack('charge_ended', { ...wrong, ...other })],
    'returned',
  ],
  ...[created({ expectedPayerTaxId: LOCKED_TO }), created()].map((creation, i): (typeof ORDER)[number] => [
    `3 paid in time, reported after the erasure of an expired charge ${i === 0 ? 'with' : 'without'} a payer lock`,
    [creation, issued(), expired(), erased()],
    other,
    [sentBack('charge_ended', other)],
    'returned',
  ]),
  [
    '3 the only method was declined',
    [created({ methods: ['CREDIT_CARD'] }), otherIssued(card()), refused('CREDIT_CARD', true)],
    { ...BY_CARD, ...wrong },
    [sentBack('charge_ended', { ...BY_CARD, ...wrong })],
    'returned',
  ],
  [
    '3 the method has no instrument',
    OPEN,
    { ...BY_CARD, ...wrong },
    [sentBack('charge_ended', { ...BY_CARD, ...wrong })],
    'returned',
  ],
  [
    '3 paid by card after the card’s expiry, while the boleto is open',
    TWO,
    { ...BY_CARD, ...wrong, paidAt: at('13:30:01') },
    [sentBack('charge_ended', { ...BY_CARD, ...wrong, paidAt: at('13:30:01') })],
    'returned',
  ],
  [
    '4 too little, with a payer lock',
    LOCKED,
    { ...wrong, ...nameless },
    [sentBack('wrong_amount', { ...wrong, ...nameless })],
    'returned',
  ],
  [
    '4 too much',
    OPEN,
    { amount: toMinor(12_346) },
    [sentBack('wrong_amount', { amount: toMinor(12_346) })],
    'returned',
  ],
  ['5 payer lock, no document', LOCKED, nameless, [held()], 'held'],
  ...['', ' ', '***.911.111-**', '*** 911.111-**', '99991111141', '999911111', 'CPF 99991111140'].map(
    (document): (typeof ORDER)[number] => [
      `5 payer lock, document that identifies nobody (${JSON.stringify(document)})`,
      LOCKED,
      { payer: { name: 'X', document } },
      [held({ payer: { name: 'X', document } })],
      'held',
    ],
  ),
  ...['***.456.789-**', '***456789**', '999.911.111-5*'].map((document): (typeof ORDER)[number] => [
    `6 payer lock, masked document that contradicts it (${JSON.stringify(document)})`,
    LOCKED,
    { payer: { name: 'X', document } },
    [sentBack('payer_mismatch', { payer: { name: 'X', document } })],
    'refunded',
  ]),
  ...['999.911.111-40', ' 999 911 111 40', '999.911.111/40', '999_911_111–40'].map(
    (document): (typeof ORDER)[number] => [
      `7 payer lock, matching document in another format (${JSON.stringify(document)})`,
      LOCKED,
      { payer: { name: 'X', document } },
      [settled({ incoming: incoming({ payer: { name: 'X', document } }) })],
      'settled',
    ],
  ),
  ...['12.abc.345/01de-35', '12ABC34501DE35'].map((document): (typeof ORDER)[number] => [
    `7 payer lock with an alphanumeric CNPJ (${JSON.stringify(document)})`,
    [created({ expectedPayerTaxId: '12ABC34501DE35' }), issued()],
    { payer: { name: 'X', document } },
    [settled({ incoming: incoming({ payer: { name: 'X', document } }) })],
    'settled',
  ]),
  [
    '6 payer lock, another payer’s formatted document',
    LOCKED,
    { payer: { name: 'X', document: '999.922.222-63' } },
    [sentBack('payer_mismatch', { payer: { name: 'X', document: '999.922.222-63' } })],
    'refunded',
  ],
  ['6 payer lock, another payer', LOCKED, other, [sentBack('payer_mismatch', other)], 'refunded'],
  ['7 payer lock, the right payer', LOCKED, {}, [settled()], 'settled'],
  ['7 paid after a cancellation request', [...OPEN, cancelRequested()], {}, [settled()], 'settled'],
  [
    '7 paid by card exactly at its expiry',
    TWO,
    { ...BY_CARD, paidAt: at('13:30:00') },
    [byCard(at('13:30:00'))],
    'settled',
  ],
  ['7 paid by card while the attempt is in progress', [...TWO, processing()], BY_CARD, [byCard(PAID_AT)], 'settled'],
  [
    '7 paid by card, after an earlier decline',
    [...TWO, refused('CREDIT_CARD', false)],
    BY_CARD,
    [byCard(PAID_AT)],
    'settled',
  ],
  ['7 paid by card in time, reported after the expiry', [...TWO, expired()], BY_CARD, [byCard(PAID_AT)], 'settled'],
  [
    '7 paid by boleto, after the card’s expiry',
    TWO,
    { method: 'BOLETO', paidAt: parseTimestamp('2026-11-24T13:00:00.000Z') },
    [byBoleto(parseTimestamp('2026-11-24T13:00:00.000Z'))],
    'settled',
  ],
  ['7 no payer lock, no document', OPEN, nameless, [settled({ incoming: incoming(nameless) })], 'settled'],
  ['7 no payer lock, another payer', OPEN, other, [settled({ incoming: incoming(other) })], 'settled'],
  [
    '7 paid exactly at the expiry',
    OPEN,
    { paidAt: EXPIRES_AT },
    [settled({ incoming: incoming({ paidAt: EXPIRES_AT }) })],
    'settled',
  ],
  ['7 paid in time, reported after the expiry', [...OPEN, expired()], {}, [settled()], 'settled'],
  [
    '7 paid after a wrong amount was returned',
    [...OPEN, sentBack('wrong_amount', { ...second, ...wrong }), returned(OTHER_END_TO_END_ID, 12_344)],
    {},
    [settled()],
    'settled',
  ],
];

describe('settleIncomingPayment', () => {
  describe('the first matching rule', () => {
    for (const [rule, history, arrives, events, outcome] of ORDER)
      it(`returns ${outcome}: ${rule}`, () => {
        given(payment, ...history)
          .when(settleIncomingPayment(arriving(arrives)))
          .then(...events, outcome)
          .again('duplicate');
      });
  });

  it('holds the net amount for the account’s hold days (M2)', () => {
    given(payment, ...OPEN)
      .when(settleIncomingPayment(arriving({}, { holdDays: { ...SETTINGS.holdDays, PIX: 2 } })))
      .then(settled({ availableAt: addMillis(SETTLED_AT, 2 * DAY_MS) }), 'settled');
  });
  it('records the fees of the account’s current schedule in the event (M1)', () => {
    const fee = { percentBps: 0, fixed: toMinor(7) };
    const fees = { ...DEFAULT_FEES, PIX: { provider: fee, platform: { percentBps: 200, fixed: toMinor(0) } } };
    const charged = { providerFee: toMinor(7), platformFee: toMinor(247), netAmount: toMinor(12_091) };
    given(payment, ...OPEN)
      .when(settleIncomingPayment(arriving({}, { fees })))
      .then(settled(charged), 'settled')
      .again('duplicate');
  });
  it('keeps the first settlement when repeated with other content', () => {
    const changed = arriving(
      { ...wrong, ...other },
      { at: at('15:00:00'), holdDays: { ...SETTINGS.holdDays, PIX: 3 }, returnId: 'return-2' },
    );
    given(payment, ...OPEN, settled())
      .when(settleIncomingPayment(changed))
      .then('duplicate');
  });
  it('returns a payment that arrives before any instrument was issued', () => {
    given(payment, created()).when(settleIncomingPayment(arriving())).then(sentBack('charge_ended'), 'returned');
  });
  describe('with a locked charge whose payer the bank does not identify', () => {
    const checked = (payerCheck: PayerCheck, over: Partial<IncomingPayment> = nameless) =>
      settleIncomingPayment(arriving(over, { payerCheck }));
    it('settles if the provider’s payer check matches', () => {
      given(payment, ...LOCKED)
        .when(checked('match'))
        .then(settled({ incoming: incoming(nameless) }), 'settled')
        .again('duplicate');
    });
    it('returns the payment if the check finds a mismatch', () => {
      given(payment, ...LOCKED)
        .when(checked('mismatch'))
        .then(sentBack('payer_mismatch', nameless), 'refunded')
        .again('duplicate');
    });
    it('holds the payment if the result of the check is unknown', () => {
      given(payment, ...LOCKED)
        .when(checked('unknown'))
        .then(held(), 'held')
        .again('duplicate');
    });
    it('ignores the check if the bank reports the document', () => {
      given(payment, ...LOCKED)
        .when(checked('match', other))
        .then(sentBack('payer_mismatch', other), 'refunded');
      given(payment, ...LOCKED)
        .when(checked('mismatch', {}))
        .then(settled(), 'settled');
    });
    it('ignores the check if the charge has no payer lock', () => {
      given(payment, ...OPEN)
        .when(checked('mismatch'))
        .then(settled({ incoming: incoming(nameless) }), 'settled');
    });
  });

  it('throws if the payment was never created', () => {
    given(payment)
      .when(settleIncomingPayment(arriving()))
      .throws(/never created/);
  });
});
