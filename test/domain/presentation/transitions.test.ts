// The rows of "Transitions shown" in contract.md: how each trigger changes a payment, and which messages it sends.
import { expect } from 'chai';
import { type Decision, fold } from '../../../domain/kernel/decider.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { recordCancelled, requestCancel } from '../../../domain/payment/cancel.ts';
import { createCharge } from '../../../domain/payment/create.ts';
import { openDispute } from '../../../domain/payment/dispute.ts';
import { expire, recordReturn } from '../../../domain/payment/lifecycle.ts';
import {
  assertExists,
  exists,
  type PaymentEvent,
  type PaymentState,
  payment,
} from '../../../domain/payment/payment.ts';
import { completeRefund, reserveRefund } from '../../../domain/payment/refund.ts';
import { settleIncomingPayment } from '../../../domain/payment/settle.ts';
import { chargeView } from '../../../domain/presentation/charge.ts';
import { messagesOf } from '../../../domain/presentation/messages.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';
import {
  at,
  CANCELLED_AT,
  created,
  disputeReport,
  END_TO_END_ID,
  EXPIRES_AT,
  held,
  incoming,
  instrument,
  issued,
  LOCKED_TO,
  processing,
  REFUND_ID,
  SETTINGS,
  SETTLED_AT,
  SOMEBODY_ELSE,
  settled,
  settledByCard,
  terms,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const PAID = [...OPEN, settled()];
const APPROVED = [...CARD, settledByCard()];

type Trigger = Decision<PaymentState, PaymentEvent, unknown>;
/** Applies the decisions in order. Returns the statuses, the messages in order, and the rejection code, if any. */
const play = (history: readonly PaymentEvent[], ...triggers: readonly Trigger[]) => {
  let state = fold(payment, history);
  const statuses: string[] = exists(state) ? [transactionStatus(state)] : [];
  const messages: string[] = [];
  for (const decide of triggers) {
    const decided = decide(state);
    if (isRejection(decided)) return { statuses, messages, refused: decided.code, payment: assertExists(state) };
    for (const event of decided.events) {
      const after = payment.evolve(state, event);
      messages.push(...messagesOf(state, event, after).map(({ type }) => type));
      state = after;
    }
    statuses.push(transactionStatus(assertExists(state)));
  }
  const last = assertExists(state);
  return { statuses, messages, refused: null, payment: last, shown: chargeView(last) };
};

const pays = (over: Partial<IncomingPayment> = {}): Trigger =>
  settleIncomingPayment({
    incoming: incoming(over),
    isPlain: true,
    payerCheck: 'unknown',
    fees: DEFAULT_FEES,
    holdDays: SETTINGS.holdDays,
    returnId: 'return-1',
    at: SETTLED_AT,
  });
const isBack = recordReturn(END_TO_END_ID, 'return-1', at('13:05:02'));
const cancels = [
  requestCancel(CANCELLED_AT),
  recordCancelled({ returnIdOf: (id) => id, by: 'merchant' }, CANCELLED_AT),
];
const refunds = (amount: number | null, n = 1): Trigger[] => {
  const refundId = `${REFUND_ID.slice(0, -1)}${n}` as typeof REFUND_ID;
  const asked = { fingerprintUnder: () => 'f', fingerprintVersion: 1 };
  const wish = { refundId, ...asked, amount: amount === null ? null : toMinor(amount), reason: null };
  const way = {
    strategy: null,
    passFeeToTenant: false,
    destinationKey: null,
    paysOut: true,
    allowedDestinations: null,
  };
  return [reserveRefund({ ...wish, ...way }, at('15:00:00')), completeRefund(refundId, 'E-out', at('15:00:02'))];
};

describe('contract.md, Transitions shown', () => {
  it('(none) | create charge | valid request | pending (transaction WAITING_PAYMENT) | Event charge.created.', () => {
    const create = createCharge({
      terms: terms(),
      fingerprintUnder: () => 'f',
      fingerprintVersion: 1,
      instrument: instrument(),
      keyParam: 'Idempotency-Key',
    });
    const { statuses, messages, shown } = play([], create);
    expect([statuses, shown?.status]).to.deep.equal([['WAITING_PAYMENT'], 'pending']);
    expect(messages).to.deep.equal(['charge.created', 'payment.created']);
  });

  it('pending | payer pays in full and it settles | | paid | settlement.end_to_end_id appears. Events charge.paid and payment.completed.', () => {
    const before = chargeView(assertExists(fold(payment, OPEN)));
    const { statuses, messages, shown } = play(OPEN, pays());
    expect(before.settlement).to.deep.equal({});
    expect(shown?.settlement).to.deep.equal({ end_to_end_id: END_TO_END_ID });
    expect([statuses, shown?.status]).to.deep.equal([['WAITING_PAYMENT', 'PAID'], 'paid']);
    expect(messages).to.deep.equal(['charge.paid', 'payment.completed', 'payment.status_changed']);
  });

  it('pending | expiry time pix.expires_at reached without payment | | expired | A new charge is needed.', () => {
    const { statuses, messages, shown } = play(OPEN, expire(EXPIRES_AT), pays({ paidAt: at('14:00:01') }));
    expect([statuses, shown?.status]).to.deep.equal([['WAITING_PAYMENT', 'EXPIRED', 'EXPIRED'], 'expired']);
    expect(messages).to.deep.equal(['charge.expired', 'payment.expired', 'payment.failed', 'payment.status_changed']);
  });

  for (const [name, amount] of [
    ['underpayment', 12_344],
    ['overpayment', 12_346],
  ] as const)
    it(`pending | underpayment | Pix is exact-amount | stays pending | The bank returns the money to the payer (${name}).`, () => {
      const told = play(OPEN, pays({ amount: toMinor(amount) }), isBack);
      expect(told.statuses).to.deep.equal(['WAITING_PAYMENT', 'WAITING_PAYMENT', 'WAITING_PAYMENT']);
      expect([told.shown?.status, told.messages]).to.deep.equal(['pending', []]);
      expect(told.payment.transaction.incomingPayments.map(({ outcome }) => outcome)).to.deep.equal(['returned']);
    });

  const CANCELLABLE: readonly (readonly [string, readonly PaymentEvent[], string])[] = [
    ['WAITING_PAYMENT', OPEN, 'WAITING_PAYMENT'],
    ['PENDING', [created()], 'PENDING'],
    ['PROCESSING by card', [...CARD, processing()], 'PROCESSING'],
    ['PROCESSING, held for review', [...LOCKED, held()], 'PROCESSING'],
  ];
  for (const [name, history, from] of CANCELLABLE)
    it(`WAITING_PAYMENT, PENDING, PROCESSING | cancel | only in these states | CANCELLED | fires payment.failed (${name})`, () => {
      const { statuses, messages, shown } = play(history, ...cancels);
      expect(statuses).to.deep.equal([from, from, 'CANCELLED']);
      expect(messages).to.deep.equal(['charge.failed', 'payment.failed', 'payment.status_changed']);
      expect([shown?.status, shown?.metadata['failure']]).to.deep.equal([
        'cancelled',
        {
          reason: 'The merchant cancelled the payment.',
          providerErrorCode: 'canceled',
          ...(shown?.payment_method === 'pix' && { ttlSeconds: 3600 }),
          at: CANCELLED_AT,
        },
      ]);
    });

  for (const [status, history] of [
    ['PAID', PAID],
    ['APPROVED', APPROVED],
  ] as const) {
    it(`PAID, APPROVED | cancel | | rejected | Settled charges must be refunded instead. (${status})`, () => {
      const { statuses, messages, refused } = play(history, ...cancels);
      expect([statuses, messages, refused]).to.deep.equal([[status], [], 'transaction_not_cancellable']);
    });
    it(`PAID, APPROVED | refund | refunded total reaches the original amount | REFUNDED | Partial refunds leave PAID or APPROVED. Event payment.refunded. (${status})`, () => {
      const { statuses, messages, shown } = play(history, ...refunds(12_000, 1), ...refunds(null, 2));
      expect([statuses, shown?.status]).to.deep.equal([[status, status, status, status, 'REFUNDED'], 'refunded']);
      expect(messages.filter((type) => type.startsWith('payment.'))).to.deep.equal([
        'payment.refunded',
        'payment.refunded',
        'payment.status_changed',
      ]);
    });
  }

  const OTHER_PAYER =
    'processing or paid (payer lock set) | settlement with a payer document different from expected_payer_tax_id | | refunded | ' +
    'Not credited. The service automatically returns the money to the payer using the original end-to-end id.';
  it(OTHER_PAYER, () => {
    const {
      statuses,
      messages,
      shown,
      payment: after,
    } = play(LOCKED, pays({ payer: { name: 'X', document: SOMEBODY_ELSE } }), isBack);
    expect([statuses, shown?.status]).to.deep.equal([['WAITING_PAYMENT', 'PROCESSING', 'REFUNDED'], 'refunded']);
    expect(messages).to.deep.equal(['payment.status_changed', 'payment.refunded', 'payment.status_changed']);
    expect([shown?.settlement, after.transaction.incomingPayments]).to.deep.equal([
      {},
      [
        {
          method: 'PIX',
          providerPaymentId: END_TO_END_ID,
          amount: 12_345,
          outcome: 'returned',
          lastMovedAt: at('13:05:02'),
          reason: 'payer_mismatch',
          returnId: 'return-1',
        },
      ],
    ]);
  });

  it('(payer lock set) | settlement where the bank gives no payer document | | processing | Never credited. Held for manual review.', () => {
    const { statuses, messages, shown } = play(LOCKED, pays({ payer: { name: 'X', document: null } }));
    expect([statuses, shown?.status]).to.deep.equal([['WAITING_PAYMENT', 'PROCESSING'], 'processing']);
    expect([shown?.settlement, messages]).to.deep.equal([{}, ['payment.status_changed']]);
  });

  for (const [type, kind] of [
    ['chargeback', 'CHARGEBACK'],
    ['dispute', 'DISPUTE'],
  ] as const)
    it(`paid | dispute case opened | | disputed | Amount held. Refund is blocked. (${kind})`, () => {
      const dispute = openDispute(disputeReport({ type }), at('16:00:00'));
      const { statuses, messages, refused, payment: after } = play(APPROVED, dispute, ...refunds(1));
      expect([statuses, refused]).to.deep.equal([['APPROVED', kind], 'charge_disputed']);
      expect([chargeView(after).status, messages]).to.deep.equal([
        'disputed',
        ['payment.failed', 'payment.status_changed'],
      ]);
    });
});
