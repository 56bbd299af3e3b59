// The Pix-out of a cashout refund in webhooks and views (rules M6, W9).
import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { EventId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { isCatalogued } from '../../../domain/presentation/catalogue.ts';
import { messagesOf } from '../../../domain/presentation/messages.ts';
import {
  created,
  issued,
  LOCKED_TO,
  PAYMENT_ID,
  REFUND_ID,
  refundCompleted,
  refundReleased,
  refundReserved,
  settled,
} from '../../support/samples.ts';

const EVENT_ID = '00000000000000000000000005' as EventId;
const PAID = [created(), issued(), settled()];
const PART = { amount: toMinor(5_000) };
const BY_MERCHANT = { ...PART, feePaidBy: 'merchant' as const };

const told = (before: readonly PaymentEvent[], event: PaymentEvent) => {
  const earlier = fold(payment, before);
  return messagesOf(earlier, event, payment.evolve(earlier, event))
    .filter(({ type }) => !type.startsWith('payment.'))
    .map(({ type, family, at, render }) => ({ type, family, at, body: render(EVENT_ID) }));
};

/** `fee` is the part that the merchant bears (M11). */
const payoutOf = (fee: number) => ({
  id: `po_${REFUND_ID}`,
  object: 'payout',
  amount: 5_000,
  currency: 'BRL',
  status: 'pending',
  method: 'pix',
  destination: null as string | null,
  refund_id: `rf_${REFUND_ID}`,
  charge_id: `ch_${PAYMENT_ID}`,
  fee,
  end_to_end_id: null as string | null,
  failure_reason: null as string | null,
  created_at: '2026-11-21T15:00:00.000Z',
  paid_at: null as string | null,
  description: null,
  metadata: {},
  awaiting_approval: false,
});
const canonical = (type: string, at: string, object: ReturnType<typeof payoutOf>) => ({
  type,
  family: 'canonical',
  at,
  body: JSON.stringify({
    id: 'evt_00000000000000000000000005',
    object: 'event',
    api_version: '2026-11-01',
    type,
    created_at: at,
    data: { object },
  }),
});
const withdrawal = (type: string, at: string, status: string, more: object = {}, fees: object = {}) => ({
  type,
  family: 'legacy',
  at,
  body: JSON.stringify({
    event: type,
    data: {
      transactionId: `tx_${PAYMENT_ID}`,
      withdrawalId: `po_${REFUND_ID}`,
      refundId: `rf_${REFUND_ID}`,
      amount: 5_000,
      status,
      previousStatus: 'PENDING',
      ...fees,
      occurredAt: at,
      ...more,
    },
  }),
});

const REQUESTED_AT = '2026-11-21T15:00:00.000Z';
const ENDED_AT = '2026-11-21T15:00:02.000Z';

/** The fee of a Pix-out is added to its amount, whether the merchant or the platform bears it (M11). */
const fees = { paidWith: 'PIX', providerFee: 0, platformFee: 0, netAmount: 5_000 };
for (const [bearer, terms, fee] of [
  ['the platform', PART, 0],
  ['the merchant', BY_MERCHANT, 50],
] as const)
  describe(`a cashout refund whose fee ${bearer} bears (W9)`, () => {
    const payout = payoutOf(fee);
    const paid = { ...payout, status: 'paid', end_to_end_id: 'E-out-1', paid_at: ENDED_AT };
    const failed = { ...payout, status: 'failed', failure_reason: 'account closed' };
    it('sends payout.created and withdrawal.created when requested', () => {
      expect(told(PAID, refundReserved(terms))).to.deep.equal([
        canonical('payout.created', REQUESTED_AT, payout),
        withdrawal('withdrawal.created', REQUESTED_AT, 'PENDING'),
      ]);
    });
    it('sends payout.paid, withdrawal.completed and withdrawal.status_changed when settled', () => {
      expect(told([...PAID, refundReserved(terms)], refundCompleted(terms))).to.deep.equal([
        canonical('payout.paid', ENDED_AT, paid),
        withdrawal('withdrawal.completed', ENDED_AT, 'PAID', {}, fees),
        withdrawal('withdrawal.status_changed', ENDED_AT, 'PAID', {}, fees),
      ]);
    });
    it('sends payout.failed, withdrawal.failed and withdrawal.status_changed when failed', () => {
      expect(told([...PAID, refundReserved(terms)], refundReleased(terms))).to.deep.equal([
        canonical('payout.failed', ENDED_AT, failed),
        withdrawal('withdrawal.failed', ENDED_AT, 'REFUSED'),
        withdrawal('withdrawal.status_changed', ENDED_AT, 'REFUSED'),
      ]);
    });
  });

describe('payout messages', () => {
  it('follow payment.refunded, which is also sent for a settled cashout', () => {
    const before = fold(payment, [...PAID, refundReserved()]);
    const event = refundCompleted();
    expect(messagesOf(before, event, payment.evolve(before, event)).map(({ type }) => type)).to.deep.equal([
      'payment.refunded',
      'payment.status_changed',
      'payout.paid',
      'withdrawal.completed',
      'withdrawal.status_changed',
    ]);
  });
  it('contain the merchant’s customerId as the last field in the legacy form (W10)', () => {
    const [, legacy] = told([created({ customerId: 'user-7' }), issued(), settled()], refundReserved(PART));
    expect(legacy).to.deep.equal(withdrawal('withdrawal.created', REQUESTED_AT, 'PENDING', { customerId: 'user-7' }));
  });
  it('show the destination masked and only if the merchant sent it, and never the payer’s document (M6)', () => {
    const named = { destination: 'loja@example.com', namedByMerchant: true };
    const destinations = (over: Parameters<typeof refundReserved>[0]) =>
      [
        ...told(PAID, refundReserved(over)),
        ...told([...PAID, refundReserved(over)], refundCompleted()),
        ...told([...PAID, refundReserved(over)], refundReleased()),
      ].flatMap(({ family, body }) => (family === 'canonical' ? [JSON.parse(body).data.object.destination] : []));
    expect(destinations({})).to.deep.equal([null, null, null]);
    expect(destinations(named)).to.deep.equal(Array(3).fill('l***@example.com'));
    expect(destinations({ namedByMerchant: true })).to.deep.equal(
      Array(3).fill(`${LOCKED_TO.slice(0, 3)}***${LOCKED_TO.slice(-2)}`),
    );
    const bodies = [PAID, [...PAID, refundReserved()]].flatMap((before, n) =>
      told(before, n === 0 ? refundReserved() : refundCompleted()),
    );
    expect(bodies.filter(({ body }) => body.includes(LOCKED_TO))).to.deep.equal([]);
  });
  it('have names of the catalogue', () => {
    const all = [
      ...told(PAID, refundReserved()),
      ...told([...PAID, refundReserved()], refundCompleted()),
      ...told([...PAID, refundReserved()], refundReleased()),
    ];
    expect(all.filter(({ type }) => !isCatalogued(type))).to.deep.equal([]);
  });
});
