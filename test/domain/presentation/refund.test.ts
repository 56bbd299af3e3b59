import { expect } from 'chai';
import { toMinor } from '../../../domain/kernel/money.ts';
import { refundPayoutView } from '../../../domain/presentation/payoutMessages.ts';
import { REFUND_STATUSES, refundStatus, refundView } from '../../../domain/presentation/refund.ts';
import type { RefundState } from '../../../domain/refund/refund.ts';
import type { RefundRecord } from '../../../domain/transaction/refunds.ts';
import {
  LOCKED_TO,
  PAYMENT_ID,
  REFUND_ID,
  REFUND_REQUESTED_AT,
  REFUNDED_AT,
  refundTerms,
} from '../../support/samples.ts';

const record = (over: Partial<RefundRecord> = {}): RefundRecord => ({
  ...refundTerms({ amount: toMinor(5_000), reason: 'sold out' }),
  fingerprint: { version: 1, hash: 'f' },
  requestedAt: REFUND_REQUESTED_AT,
  outcome: { status: 'reserved' },
  ...over,
});
const completed: RefundRecord['outcome'] = { status: 'completed', endToEndId: 'E-out-1', at: REFUNDED_AT };
const failed: RefundRecord['outcome'] = { status: 'failed', reason: 'account closed', at: REFUNDED_AT };

describe('the refund status of contract.md: PENDING, then IN_PROGRESS, then REFUNDED or FAILED', () => {
  const WAYS: readonly (readonly [RefundState['status'] | undefined, RefundRecord['outcome'], string])[] = [
    [undefined, { status: 'reserved' }, 'PENDING'],
    ['absent', { status: 'reserved' }, 'PENDING'],
    ['requested', { status: 'reserved' }, 'PENDING'],
    ['submitted', { status: 'reserved' }, 'IN_PROGRESS'],
    ['unknown', { status: 'reserved' }, 'IN_PROGRESS'],
    ['completed', { status: 'reserved' }, 'IN_PROGRESS'], // until the payment records the completion
    ['failed', { status: 'reserved' }, 'IN_PROGRESS'],
    ['completed', completed, 'REFUNDED'],
    ['failed', failed, 'FAILED'],
    ['submitted', completed, 'REFUNDED'],
    [undefined, failed, 'FAILED'],
  ];
  for (const [way, outcome, status] of WAYS)
    it(`is ${status} if the payment’s refund is ${outcome.status} and the provider’s is ${way ?? 'not read'}`, () => {
      expect(refundStatus(record({ outcome }), way)).to.equal(status);
    });
  it('has exactly these four values', () =>
    expect(REFUND_STATUSES).to.deep.equal(['PENDING', 'IN_PROGRESS', 'REFUNDED', 'FAILED']));
});

const shown = {
  id: `rf_${REFUND_ID}`,
  transactionId: `tx_${PAYMENT_ID}`,
  amount: 5_000,
  currency: 'BRL',
  status: 'PENDING',
  reason: 'sold out',
  failureReason: null as string | null,
  createdAt: '2026-11-21T15:00:00.000Z',
};
describe('refundView', () => {
  const VIEWS: readonly (readonly [string, RefundRecord, RefundState['status'] | undefined, object])[] = [
    ['requested', record(), undefined, shown],
    ['without a reason', record({ reason: null }), 'requested', { ...shown, reason: null }],
    ['in progress', record(), 'submitted', { ...shown, status: 'IN_PROGRESS' }],
    ['completed', record({ outcome: completed }), 'completed', { ...shown, status: 'REFUNDED' }],
    ['failed', record({ outcome: failed }), 'failed', { ...shown, status: 'FAILED', failureReason: 'account closed' }],
    ['failed, but not yet recorded in the payment', record(), 'failed', { ...shown, status: 'IN_PROGRESS' }],
  ];
  for (const [name, refund, way, view] of VIEWS)
    it(`has exactly these fields in this order for every strategy: ${name}`, () => {
      for (const strategy of ['cashout', 'devolution', 'reversal'] as const) {
        const seen = refundView(PAYMENT_ID, { ...refund, strategy }, way);
        expect(seen).to.deep.equal(view);
        expect(Object.keys(seen)).to.deep.equal(Object.keys(shown));
      }
    });
});

const pending = {
  id: `po_${REFUND_ID}`,
  object: 'payout',
  amount: 5_000,
  currency: 'BRL',
  status: 'pending',
  method: 'pix',
  destination: null as string | null,
  refund_id: `rf_${REFUND_ID}`,
  charge_id: `ch_${PAYMENT_ID}`,
  fee: 0,
  end_to_end_id: null,
  failure_reason: null,
  created_at: '2026-11-21T15:00:00.000Z',
  paid_at: null,
  description: null,
  metadata: {},
  awaiting_approval: false,
};
describe('refundPayoutView (M6, Y2)', () => {
  const VIEWS: readonly (readonly [string, RefundRecord, object])[] = [
    ['pending', record(), pending],
    [
      'pending, to a key that the merchant gave',
      record({ destination: 'maria@example.com', namedByMerchant: true }),
      { ...pending, destination: 'm***@example.com' },
    ],
    [
      'pending, to the payer’s document, given by the merchant',
      record({ namedByMerchant: true }),
      { ...pending, destination: `${LOCKED_TO.slice(0, 3)}***${LOCKED_TO.slice(-2)}` },
    ],
    [
      'paid',
      record({ outcome: completed }),
      { ...pending, status: 'paid', end_to_end_id: 'E-out-1', paid_at: '2026-11-21T15:00:02.000Z' },
    ],
    ['failed', record({ outcome: failed }), { ...pending, status: 'failed', failure_reason: 'account closed' }],
  ];
  for (const [name, refund, view] of VIEWS)
    it(`has exactly these fields in this order, with the fee that the merchant bears (M11): ${name}`, () => {
      for (const [feePaidBy, fee] of [
        ['merchant', 50],
        ['platform', 0],
      ] as const) {
        const seen = refundPayoutView(PAYMENT_ID, { ...refund, feePaidBy });
        expect(seen).to.deep.equal({ ...view, fee });
        expect(Object.keys(seen)).to.deep.equal(Object.keys(pending));
      }
    });
});
