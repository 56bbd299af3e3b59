import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { EventId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { API_VERSION } from '../../../domain/presentation/envelope.ts';
import { messagesOf } from '../../../domain/presentation/messages.ts';
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
  OTHER_REFUND_ID,
  PAYMENT_ID,
  paymentAfter,
  processing,
  REFUND_ID,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  refusedInstrument,
  released,
  resendRequested,
  returned,
  returnRefused,
  returnRetried,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const EVENT_ID = '00000000000000000000000005' as EventId;
const OPEN = [created(), issued()];
const BACK = [...OPEN, sentBack('payer_mismatch')];
const PAID = [...OPEN, settled()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const TWO = [created({ methods: ['CREDIT_CARD', 'BOLETO'] }), otherIssued(card()), otherIssued(boleto())];
const APPROVED = [...CARD, settledByCard()];
/** A card refund, which has no payout. */
const PART = { amount: toMinor(5_000), strategy: 'reversal' as const, destination: null, fee: toMinor(0) };
const OTHER_PART = { ...PART, refundId: OTHER_REFUND_ID, amount: toMinor(7_345) };
const FAILED_PART = { ...PART, refundId: '00000000000000000000000rf3' as typeof REFUND_ID, amount: toMinor(1_000) };
const BACK_BY_PIX = { strategy: 'devolution' as const, destination: null, fee: toMinor(0) };

interface Row {
  readonly before: readonly PaymentEvent[];
  readonly event: PaymentEvent;
  readonly at: string;
  /** The event names of the canonical family, then of the legacy family, in the order of sending. */
  readonly canonical: readonly string[];
  readonly legacy: readonly string[];
  readonly status: string;
  readonly previousStatus: string;
  /** The additional fields of `payment.refunded` (W9b). */
  readonly back?: { refundId: string | null; refundedAmount: number; refundedTotal: number };
  /** The settlement fields of a PAID or APPROVED payment. */
  readonly paid?: { paidWith: string; providerFee: number; platformFee: number; netAmount: number };
}
const BY_PIX = { paidWith: 'PIX', providerFee: 10, platformFee: 123, netAmount: 12_212 };
const BY_CARD = { paidWith: 'CREDIT_CARD', providerFee: 339, platformFee: 123, netAmount: 11_883 };
const row = (
  before: readonly PaymentEvent[],
  event: PaymentEvent,
  at: string,
  rest: Omit<Row, 'before' | 'event' | 'at'>,
): Row => ({
  before,
  event,
  at: `2026-11-21T${at}.000Z`,
  ...rest,
});
const settles = {
  canonical: ['charge.paid'],
  legacy: ['payment.completed', 'payment.status_changed'],
};
const ends = { canonical: ['charge.failed'], legacy: ['payment.failed', 'payment.status_changed'] };
const changes = { canonical: [], legacy: ['payment.status_changed'] };

/** The rows of rules W9 and W9a for existing transitions. */
const W9: Readonly<Record<string, Row>> = {
  created: row([created()], issued(), '13:00:00', {
    canonical: ['charge.created'],
    legacy: ['payment.created'],
    status: 'WAITING_PAYMENT',
    previousStatus: 'WAITING_PAYMENT', // W10
  }),
  'created with another method than Pix': row([CARD[0]!], CARD[1]!, '13:00:00', {
    canonical: ['charge.created'],
    legacy: ['payment.created'],
    status: 'WAITING_PAYMENT',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'settled (PAID)': row(OPEN, settled(), '13:05:01', {
    ...settles,
    paid: BY_PIX,
    status: 'PAID',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'settled (APPROVED)': row([...CARD, processing()], settledByCard(), '13:05:01', {
    ...settles,
    paid: BY_CARD,
    status: 'APPROVED',
    previousStatus: 'PROCESSING',
  }),
  'settled after it expired': row([...OPEN, expired()], settled(), '13:05:01', {
    ...settles,
    paid: BY_PIX,
    status: 'PAID',
    previousStatus: 'EXPIRED',
  }),
  'settled after an operator released it': row([...OPEN, held(), heldReleased()], settled(), '13:05:01', {
    ...settles,
    paid: BY_PIX,
    status: 'PAID',
    previousStatus: 'PROCESSING',
  }),
  'card payment in progress': row(CARD, processing(), '13:04:00', {
    ...changes,
    status: 'PROCESSING',
    previousStatus: 'WAITING_PAYMENT',
  }),
  refused: row([...CARD, processing()], refused('CREDIT_CARD', true), '13:04:30', {
    ...ends,
    status: 'REFUSED',
    previousStatus: 'PROCESSING',
  }),
  'refused, with another method left': row([...TWO, processing()], refused('CREDIT_CARD', false), '13:04:30', {
    ...changes,
    status: 'WAITING_PAYMENT',
    previousStatus: 'PROCESSING',
  }),
  cancelled: row([...OPEN, cancelRequested()], cancelled(), '13:10:00', {
    ...ends,
    status: 'CANCELLED',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'cancelled before any instrument was issued': row([created(), cancelRequested()], cancelled(), '13:10:00', {
    ...ends,
    status: 'CANCELLED',
    previousStatus: 'PENDING',
  }),
  'cancelled while held': row(
    [...OPEN, held(), cancelRequested(), cancelled()],
    heldRejected('cancelled'),
    '13:10:00',
    {
      ...ends,
      status: 'CANCELLED',
      previousStatus: 'PROCESSING',
    },
  ),
  chargeback: row(APPROVED, disputeOpened('CHARGEBACK'), '16:00:00', {
    canonical: [],
    legacy: ['payment.failed', 'payment.status_changed'],
    status: 'CHARGEBACK',
    previousStatus: 'APPROVED',
  }),
  dispute: row(APPROVED, disputeOpened('DISPUTE'), '16:00:00', {
    canonical: [],
    legacy: ['payment.failed', 'payment.status_changed'],
    status: 'DISPUTE',
    previousStatus: 'APPROVED',
  }),
  'refund completed (partial)': row([...APPROVED, refundReserved(PART)], refundCompleted(PART), '15:00:02', {
    canonical: [],
    legacy: ['payment.refunded'],
    paid: BY_CARD,
    back: { refundId: `rf_${REFUND_ID}`, refundedAmount: 5_000, refundedTotal: 5_000 },
    status: 'APPROVED',
    previousStatus: 'APPROVED',
  }),
  'refund completed (the rest, after another and one that failed)': row(
    [
      ...APPROVED,
      ...[refundReserved(OTHER_PART), refundCompleted(OTHER_PART)],
      ...[refundReserved(FAILED_PART), refundReleased(FAILED_PART), refundReserved(PART)],
    ],
    refundCompleted(PART),
    '15:00:02',
    {
      canonical: [],
      legacy: ['payment.refunded', 'payment.status_changed'],
      back: { refundId: `rf_${REFUND_ID}`, refundedAmount: 5_000, refundedTotal: 12_345 },
      status: 'REFUNDED',
      previousStatus: 'APPROVED',
    },
  ),
  'refund completed (full)': row([...PAID, refundReserved(BACK_BY_PIX)], refundCompleted(BACK_BY_PIX), '15:00:02', {
    canonical: [],
    legacy: ['payment.refunded', 'payment.status_changed'],
    back: { refundId: `rf_${REFUND_ID}`, refundedAmount: 12_345, refundedTotal: 12_345 },
    status: 'REFUNDED',
    previousStatus: 'PAID',
  }),
  'creation failed at the provider': row([created()], failed(), '13:00:00', {
    canonical: ['charge.failed'],
    legacy: ['payment.failed', 'payment.status_changed'],
    status: 'REFUSED',
    previousStatus: 'PENDING',
  }),
  expired: row(OPEN, expired(), '14:00:00', {
    canonical: ['charge.expired'],
    legacy: ['payment.expired', 'payment.failed', 'payment.status_changed'],
    status: 'EXPIRED',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'payer-lock return': row(BACK, returned(), '13:05:02', {
    canonical: [],
    legacy: ['payment.refunded', 'payment.status_changed'],
    back: { refundId: null, refundedAmount: 12_345, refundedTotal: 12_345 },
    status: 'REFUNDED',
    previousStatus: 'PROCESSING',
  }),
  'payer lock violated': row(OPEN, sentBack('payer_mismatch'), '13:05:01', {
    canonical: [],
    legacy: ['payment.status_changed'],
    status: 'PROCESSING',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'returned by an operator': row([...OPEN, held(), heldRejected('operator')], returned(), '13:05:02', {
    canonical: [],
    legacy: ['payment.refunded', 'payment.status_changed'],
    back: { refundId: null, refundedAmount: 12_345, refundedTotal: 12_345 },
    status: 'REFUNDED',
    previousStatus: 'PROCESSING',
  }),
  'held for review': row(OPEN, held(), '13:05:01', {
    canonical: [],
    legacy: ['payment.status_changed'],
    status: 'PROCESSING',
    previousStatus: 'WAITING_PAYMENT',
  }),
};

const transition = (before: readonly PaymentEvent[], event: PaymentEvent) => {
  const earlier = fold(payment, before);
  return messagesOf(earlier, event, payment.evolve(earlier, event));
};
const CANCELLED_HELD = [...OPEN, held(), cancelRequested(), cancelled()];
const textsOf = ({ before, event }: Pick<Row, 'before' | 'event'>) =>
  transition(before, event).map(({ type, family, at, render }) => ({ type, family, at, body: render(EVENT_ID) }));

const canonicalBody = ({ before, event, at }: Row, type: string) =>
  JSON.stringify({
    id: 'evt_00000000000000000000000005',
    object: 'event',
    api_version: '2026-11-01',
    type,
    created_at: at,
    data: { object: chargeView(paymentAfter(...before, event)) },
  });
const legacyBody = ({ at, status, previousStatus, paid, back }: Row, name: string) =>
  JSON.stringify({
    event: name,
    data: {
      transactionId: `tx_${PAYMENT_ID}`,
      amount: 12_345,
      status,
      previousStatus,
      ...paid,
      ...(name === 'payment.refunded' && back),
      occurredAt: at,
    },
  });

describe('messagesOf follows the table of W9', () => {
  for (const [name, told] of Object.entries(W9))
    it(`sends ${[...told.canonical, ...told.legacy].join(', ')}: ${name}`, () => {
      expect(textsOf(told)).to.deep.equal([
        ...told.canonical.map((type) => ({ type, family: 'canonical', at: told.at, body: canonicalBody(told, type) })),
        ...told.legacy.map((type) => ({ type, family: 'legacy', at: told.at, body: legacyBody(told, type) })),
      ]);
    });

  it('sends the creation event only with the first instrument, even if both were appended together', () => {
    expect(transition([], created())).to.deep.equal([]);
    expect(textsOf({ before: [created()], event: issued() }).map(({ type }) => type)).to.deep.equal([
      'charge.created',
      'payment.created',
    ]);
  });
  const silent: readonly (readonly [string, readonly PaymentEvent[], PaymentEvent])[] = [
    ['the release of funds', [...OPEN, settled()], released()],
    ['a wrong amount', OPEN, sentBack('wrong_amount')],
    ['the return of a wrong amount', [...OPEN, sentBack('wrong_amount')], returned()],
    ['a second Pix', [...OPEN, settled()], sentBack('second_payment', { providerPaymentId: 'E2' })],
    ['a late Pix', [...OPEN, expired()], sentBack('charge_ended')],
    ['a repeated return after a payer mismatch', [...BACK, returned()], returned()],
    ['another instrument after the first', [TWO[0]!, TWO[1]!], TWO[2]!],
    ['a refused method', [TWO[0]!, TWO[1]!], refusedInstrument('BOLETO')],
    ['a refused method before any instrument is issued', [TWO[0]!], refusedInstrument('BOLETO')],
    ['a declined method while another is open', TWO, refused('BOLETO', false)],
    ['a cancellation request', OPEN, cancelRequested()],
    [
      'the cancellation of a payment whose held Pix is not yet rejected',
      [...OPEN, held(), cancelRequested()],
      cancelled(),
    ],
    ['the return of a Pix held when it was cancelled', [...CANCELLED_HELD, heldRejected('cancelled')], returned()],
    ['the release of a held Pix before it settles', [...OPEN, held()], heldReleased()],
    ['the rejection of a held Pix before it is returned', [...OPEN, held()], heldRejected('operator')],
    ['a return that the provider refuses', BACK, returnRefused()],
    ['a return that is requested again', [...BACK, returnRefused()], returnRetried('return-2')],
    ['a request to resend the webhooks', PAID, resendRequested(2, 1)],
    ['a devolution that was requested', PAID, refundReserved(BACK_BY_PIX)],
    ['a devolution that failed', [...PAID, refundReserved(BACK_BY_PIX)], refundReleased(BACK_BY_PIX)],
    ['a reversal that was requested', APPROVED, refundReserved(PART)],
    ['a reversal that failed', [...APPROVED, refundReserved(PART)], refundReleased(PART)],
  ];
  for (const [name, before, event] of silent)
    it(`sends nothing for ${name}`, () => expect(transition(before, event)).to.deep.equal([]));
  it('sends nothing for a payment that was never created', () => {
    expect(transition([], settled())).to.deep.equal([]);
  });

  it('puts the customerId that the merchant sent last in legacy messages (W10)', () => {
    const [, legacy] = textsOf({ before: [created({ customerId: 'user-7' })], event: issued() });
    const data = {
      transactionId: `tx_${PAYMENT_ID}`,
      amount: 12_345,
      status: 'WAITING_PAYMENT',
      previousStatus: 'WAITING_PAYMENT',
      occurredAt: '2026-11-21T13:00:00.000Z',
      customerId: 'user-7',
    };
    expect(legacy?.body).to.equal(JSON.stringify({ event: 'payment.created', data }));
  });
  it('sends only names of the catalogue', () => {
    for (const told of Object.values(W9))
      for (const { type } of transition(told.before, told.event)) expect(isCatalogued(type), type).to.equal(true);
  });
  it('uses the API version of I13', () => expect(API_VERSION).to.equal('2026-11-01'));
});
