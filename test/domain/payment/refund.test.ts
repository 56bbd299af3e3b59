import { expect } from 'chai';
import type { RefundId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { ErrorCode } from '../../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS } from '../../../domain/kernel/time.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { PIX_OUT_FEE, REFUNDS_MAX, type ReserveRefund, reserveRefund } from '../../../domain/payment/refund.ts';
import type { RefundRecord, RefundTerms } from '../../../domain/transaction/refunds.ts';
import { given } from '../../support/given.ts';
import {
  created,
  disputeOpened,
  expired,
  held,
  incoming,
  issued,
  LOCKED_TO,
  OTHER_REFUND_ID,
  paymentAfter,
  processing,
  REFUND_FINGERPRINT,
  REFUND_ID,
  REFUND_REQUESTED_AT,
  refundCompleted,
  refundReleased,
  refundReserved,
  refundTerms,
  returnedOutside,
  SETTLED_AT,
  SOMEBODY_ELSE,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const PAID = [...OPEN, settled()];
/** Paid three days before the settlement. The window of M8 starts at the payment. */
const PAID_BEFORE = addMillis(SETTLED_AT, -3 * DAY_MS);
const CREDITED_LATE = [...OPEN, settled({ incoming: incoming({ paidAt: PAID_BEFORE }) })];
const LAST_DEVOLUTION = addMillis(PAID_BEFORE, 90 * DAY_MS);
const NAMELESS = [...OPEN, settled({ incoming: incoming({ payer: { name: null, document: null } }) })];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const APPROVED = [...CARD, settledByCard()];
const BOLETO = [
  created({ methods: ['BOLETO'] }),
  otherIssued(boleto()),
  settled({ method: 'BOLETO', incoming: incoming({ method: 'BOLETO' }) }),
];

const wish = (over: Partial<ReserveRefund> = {}): ReserveRefund => ({
  refundId: REFUND_ID,
  fingerprintUnder: () => REFUND_FINGERPRINT.hash,
  fingerprintVersion: 1,
  amount: null,
  reason: null,
  strategy: null,
  passFeeToTenant: false,
  destinationKey: null,
  paysOut: true,
  allowedDestinations: null,
  ...over,
});
const reserve = (over: Partial<ReserveRefund> = {}, when = REFUND_REQUESTED_AT) => reserveRefund(wish(over), when);
const other = { refundId: OTHER_REFUND_ID };
const tooMuch = { amount: toMinor(12_346) };
const completedPart = refundCompleted({ ...other, amount: toMinor(12_000) });
/** The maximum number of refunds of a payment. */
const hundred = Array.from({ length: REFUNDS_MAX }, (_, i) => ({
  refundId: `other-${i}` as RefundId,
  amount: toMinor(1),
}));
const late = addMillis(SETTLED_AT, 90 * DAY_MS + 1);

const record = (over: Partial<RefundTerms> = {}): RefundRecord => ({
  ...refundTerms(over),
  fingerprint: REFUND_FINGERPRINT,
  requestedAt: REFUND_REQUESTED_AT,
  outcome: { status: 'reserved' },
});

/** Every row breaks its own rule and all rules after it, so that the first applicable rule decides (refund.ts). */
const ORDER: readonly (readonly [
  string,
  readonly PaymentEvent[],
  Partial<ReserveRefund>,
  ErrorCode,
  string | undefined,
])[] = [
  [
    '1 the key was used with other content, and the payment is disputed',
    [...APPROVED, refundReserved({ amount: toMinor(5) }), disputeOpened('CHARGEBACK', 12_340)],
    { ...tooMuch, strategy: 'devolution', fingerprintUnder: () => 'another' },
    'idempotency_key_reused',
    'idempotencyKey',
  ],
  [
    '1 the key was used with other content, and the payment is fully refunded',
    [...PAID, refundReserved(), refundCompleted()],
    { ...tooMuch, strategy: 'devolution', fingerprintUnder: () => 'another' },
    'idempotency_key_reused',
    'idempotencyKey',
  ],
  ['2 not paid', OPEN, { ...tooMuch, strategy: 'devolution' }, 'transaction_not_refundable', undefined],
  ['2 a card payment is in progress', [...CARD, processing()], tooMuch, 'transaction_not_refundable', undefined],
  ['2 expired', [...OPEN, expired()], tooMuch, 'transaction_not_refundable', undefined],
  ['2 held for review', [...OPEN, held()], tooMuch, 'transaction_not_refundable', undefined],
  [
    '2 being returned because of the payer lock',
    [...OPEN, sentBack('payer_mismatch')],
    tooMuch,
    'transaction_not_refundable',
    undefined,
  ],
  [
    '3 fully refunded',
    [...PAID, refundReserved(other), refundCompleted(other)],
    { ...tooMuch, strategy: 'devolution', destinationKey: SOMEBODY_ELSE, paysOut: true, allowedDestinations: [] },
    'transaction_not_refundable',
    undefined,
  ],
  [
    '3 fully refunded, partly by a return outside Quita',
    [...PAID, returnedOutside(345), refundReserved({ ...other, amount: toMinor(12_000) }), completedPart],
    { ...tooMuch, strategy: 'devolution', destinationKey: SOMEBODY_ELSE, paysOut: true, allowedDestinations: [] },
    'transaction_not_refundable',
    undefined,
  ],
  [
    '2b disputed, and fully refunded since',
    [...APPROVED, refundReserved(other), disputeOpened('CHARGEBACK', 0), refundCompleted(other)],
    { ...tooMuch, strategy: 'devolution', destinationKey: 'x' },
    'charge_disputed',
    undefined,
  ],
  [
    '2b disputed',
    [...APPROVED, disputeOpened()],
    { ...tooMuch, strategy: 'devolution', destinationKey: 'x' },
    'charge_disputed',
    undefined,
  ],
  ['4 a method without refunds', BOLETO, { ...tooMuch, strategy: 'cashout' }, 'REFUND_NOT_SUPPORTED', undefined],
  [
    '4b a hundred earlier refunds, including failed ones',
    [...PAID, ...hundred.flatMap((one) => [refundReserved(one), refundReleased(one)])],
    { ...tooMuch, destinationKey: 'x', paysOut: true, allowedDestinations: [] },
    'refund_limit_reached',
    undefined,
  ],
  ['5 more than the paid amount', PAID, tooMuch, 'refund_amount_exceeds_remaining', 'amount'],
  [
    '5 more than the paid amount, by devolution',
    PAID,
    { ...tooMuch, strategy: 'devolution' },
    'refund_amount_exceeds_remaining',
    'amount',
  ],
  [
    '5 more than the rest after a partial refund',
    [
      ...PAID,
      refundReserved({ ...other, amount: toMinor(12_000) }),
      refundCompleted({ ...other, amount: toMinor(12_000) }),
    ],
    { amount: toMinor(346) },
    'refund_amount_exceeds_remaining',
    'amount',
  ],
  [
    '5 more than the rest while a partial refund is pending',
    [...PAID, refundReserved({ ...other, amount: toMinor(12_000) })],
    { amount: toMinor(346) },
    'refund_amount_exceeds_remaining',
    'amount',
  ],
  [
    '5 any amount while a full refund is pending',
    [...PAID, refundReserved(other)],
    { amount: toMinor(1) },
    'refund_amount_exceeds_remaining',
    'amount',
  ],
  [
    '5 an omitted amount while a full refund is pending',
    [...PAID, refundReserved(other)],
    {},
    'refund_amount_exceeds_remaining',
    'amount',
  ],
  ['6 the payer is unknown and no key is given', NAMELESS, {}, 'REFUND_NOT_SUPPORTED', undefined],
  [
    '6 a key if the account allows no destinations',
    PAID,
    { destinationKey: SOMEBODY_ELSE, paysOut: true, allowedDestinations: [] },
    'REFUND_NOT_SUPPORTED',
    undefined,
  ],
  [
    '6 a key that is not an allowed destination',
    PAID,
    { destinationKey: SOMEBODY_ELSE, allowedDestinations: [LOCKED_TO] },
    'REFUND_NOT_SUPPORTED',
    undefined,
  ],
  ['6 a strategy for a card payment', APPROVED, { strategy: 'devolution' }, 'invalid_request', 'strategy'],
  [
    '6 the payer’s document is masked and no key is given',
    [created(), issued(), settled({ incoming: incoming({ payer: { name: 'X', document: '***.911.111-**' } }) })],
    {},
    'REFUND_NOT_SUPPORTED',
    undefined,
  ],
  ['6 a key for a card payment', APPROVED, { destinationKey: 'x' }, 'invalid_request', 'destinationKey'],
];

describe('reserveRefund by a provider without Pix-outs (M6a)', () => {
  const devolution = { strategy: 'devolution', destination: null, fee: toMinor(0) } as const;
  for (const [what, over, expected] of [
    ['uses devolution if no strategy is given', {}, devolution],
    ['accepts a devolution', { strategy: 'devolution' }, devolution],
    ['rejects a cashout with REFUND_NOT_SUPPORTED', { strategy: 'cashout' }, 'REFUND_NOT_SUPPORTED'],
    ['rejects a destination with REFUND_NOT_SUPPORTED', { destinationKey: LOCKED_TO }, 'REFUND_NOT_SUPPORTED'],
    [
      'rejects an omitted strategy with service_unavailable while the connection is disabled',
      { paysOut: null },
      'service_unavailable',
    ],
    ['accepts a devolution while the connection is disabled', { paysOut: null, strategy: 'devolution' }, devolution],
    [
      'rejects an omitted strategy with REFUND_NOT_SUPPORTED if the connection is removed',
      { paysOut: 'removed' },
      'REFUND_NOT_SUPPORTED',
    ],
    [
      'rejects a devolution with REFUND_NOT_SUPPORTED if the connection is removed',
      { paysOut: 'removed', strategy: 'devolution' },
      'REFUND_NOT_SUPPORTED',
    ],
    [
      'reports an excessive amount before an unsupported strategy',
      { strategy: 'cashout', amount: toMinor(99_999) },
      'refund_amount_exceeds_remaining',
    ],
  ] as const)
    it(what, () => {
      const decided = reserve({ paysOut: false, ...over })(paymentAfter(...PAID));
      if (typeof expected === 'string') expect(decided).to.include({ code: expected });
      else expect(decided).to.have.property('reply').that.has.property('refund').that.deep.includes(expected);
    });
  it('replays the original refund even if the connection’s Pix-out support has changed', () => {
    for (const [first, then] of [
      [false, true],
      [true, false],
      [false, null],
    ] as const) {
      const done = reserve({ paysOut: first })(paymentAfter(...PAID));
      if ('rejected' in done) throw new Error(done.code);
      const again = reserve({ paysOut: then })(paymentAfter(...PAID, ...done.events));
      expect(again).to.deep.equal({ events: [], reply: { ...done.reply, replayed: true } });
    }
  });
});

describe('reserveRefund', () => {
  describe('the first matching rule', () => {
    for (const [rule, history, over, code, param] of ORDER)
      it(`rejects with ${code}: ${rule}`, () =>
        given(payment, ...history)
          .when(reserve(over))
          .rejected(code, param));
    it('rejects a devolution more than 90 days after the payment with REFUND_NOT_SUPPORTED (M8)', () =>
      given(payment, ...CREDITED_LATE)
        .when(reserve({ strategy: 'devolution' }, addMillis(LAST_DEVOLUTION, 1)))
        .rejected('REFUND_NOT_SUPPORTED'));
  });

  const WAYS: readonly (readonly [string, readonly PaymentEvent[], Partial<ReserveRefund>, Partial<RefundTerms>])[] = [
    ['the full amount, by cashout to the payer’s document, with the fee borne by the platform', PAID, {}, {}],
    ['an explicit cashout', PAID, { strategy: 'cashout' }, {}],
    ['a part, with a reason', PAID, { amount: toMinor(1), reason: 'broken' }, { amount: toMinor(1), reason: 'broken' }],
    [
      'to the given key',
      PAID,
      { destinationKey: 'maria@example.com' },
      { destination: 'maria@example.com', namedByMerchant: true },
    ],
    ['to the payer’s document, given as the key', PAID, { destinationKey: LOCKED_TO }, { namedByMerchant: true }],
    [
      'to the given key if the payer is unknown',
      NAMELESS,
      { destinationKey: SOMEBODY_ELSE },
      { destination: SOMEBODY_ELSE, namedByMerchant: true },
    ],
    [
      'to the unformatted document if the bank reports it formatted',
      [created(), issued(), settled({ incoming: incoming({ payer: { name: 'X', document: '999.911.111-40' } }) })],
      {},
      {},
    ],
    [
      'to an allowed destination (M7a)',
      PAID,
      { destinationKey: SOMEBODY_ELSE, allowedDestinations: [SOMEBODY_ELSE] },
      { destination: SOMEBODY_ELSE, namedByMerchant: true },
    ],
    [
      'to the payer’s own document, even if it is not an allowed destination (M7a)',
      PAID,
      { allowedDestinations: [SOMEBODY_ELSE] },
      {},
    ],
    [
      'to the payer’s own document, given as the key, even if no destination is allowed',
      PAID,
      { destinationKey: LOCKED_TO, paysOut: true, allowedDestinations: [] },
      { namedByMerchant: true },
    ],
    ['with the fee borne by the merchant (M6)', PAID, { passFeeToTenant: true }, { feePaidBy: 'merchant' }],
    [
      'by devolution, without a destination and a fee, even if passFeeToTenant is set',
      PAID,
      { strategy: 'devolution', passFeeToTenant: true, paysOut: true, allowedDestinations: [] },
      { strategy: 'devolution', destination: null, fee: toMinor(0) },
    ],
    [
      'by devolution if the payer is unknown',
      NAMELESS,
      { strategy: 'devolution' },
      { strategy: 'devolution', destination: null, fee: toMinor(0) },
    ],
    [
      'a card payment, by reversal without a fee',
      APPROVED,
      { passFeeToTenant: true },
      { strategy: 'reversal', destination: null, fee: toMinor(0) },
    ],
  ];
  for (const [name, history, over, terms] of WAYS)
    it(`reserves once: ${name}`, () => {
      const refund = record(terms);
      given(payment, ...history)
        .when(reserve(over))
        .then(refundReserved(terms), { refund, replayed: false });
      given(payment, ...history, refundReserved(terms))
        .when(reserve(over))
        .then({ refund, replayed: true });
    });
  it('reserves a devolution until exactly 90 days after the payment (M8)', () => {
    const last = LAST_DEVOLUTION;
    const terms = { ...refundTerms({ strategy: 'devolution', destination: null, fee: toMinor(0) }) };
    const refund: RefundRecord = { ...record(terms), requestedAt: last };
    given(payment, ...CREDITED_LATE)
      .when(reserve({ strategy: 'devolution' }, last))
      .then(
        { type: 'TransactionRefundReserved', data: { ...terms, fingerprint: REFUND_FINGERPRINT, at: last } },
        { refund, replayed: false },
      );
  });
  it('reserves the hundredth refund and still replays it (M7)', () => {
    const before = hundred.slice(1).flatMap((one) => [refundReserved(one), refundReleased(one)]);
    given(payment, ...PAID, ...before)
      .when(reserve())
      .then(refundReserved(), { refund: record(), replayed: false });
    given(payment, ...PAID, ...before, refundReserved())
      .when(reserve())
      .then({ refund: record(), replayed: true });
    expect(REFUNDS_MAX).to.equal(100);
  });
  it('reserves the refundable rest if no amount is given', () => {
    const part = { ...other, amount: toMinor(12_000) };
    const rest = { amount: toMinor(345) };
    given(payment, ...PAID, refundReserved(part), refundCompleted(part))
      .when(reserve())
      .then(refundReserved(rest), { refund: record(rest), replayed: false });
  });
  it('makes the amount of a failed refund refundable again (M7)', () => {
    given(payment, ...PAID, refundReserved(other), refundReleased(other))
      .when(reserve())
      .then(refundReserved(), { refund: record(), replayed: false });
  });
  it('replays the refund as it was requested, even after it completed or failed (K3)', () => {
    const replayed = { refund: record(), replayed: true };
    for (const after of [[], [refundCompleted()], [refundReleased()]])
      given(payment, ...PAID, refundReserved(), ...after)
        .when(reserve({}, late))
        .then(replayed);
  });
  it('charges a fee of 50 for a Pix-out (M6)', () => expect(PIX_OUT_FEE).to.equal(50));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(reserve())
      .throws(/never created/));
});
