import { expect } from 'chai';
import { LEDGER_ACCOUNTS } from '../../../domain/aggregates.ts';
import type { MoneyOutcome } from '../../../domain/dispute/medCase.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { journalEntry, trancheChange } from '../../../domain/payment/postings.ts';
import {
  at,
  CASE_ID,
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
  processing,
  REFUND_REQUESTED_AT,
  REFUNDED_AT,
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
  SETTLED_AT,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';

const entry = (when: string, ...lines: readonly (readonly [string, number])[]) => ({
  at: when,
  postings: lines.map(([account, amount]) => ({ account, currency: 'BRL', amount })),
});
const disputeResolved = (moneyOutcome: MoneyOutcome, held = 12_345): PaymentEvent => ({
  type: 'TransactionDisputeResolved',
  data: {
    caseId: CASE_ID,
    moneyOutcome,
    amount: toMinor(held),
    currency: 'BRL',
    reportedAmount: toMinor(12_345),
    announced: true,
    at: at('18:00:00'),
  },
});
const disputeReturnCounted = (amount: number, posted: number): PaymentEvent => ({
  type: 'TransactionDisputeReturnCounted',
  data: { caseId: CASE_ID, amount: toMinor(amount), posted: toMinor(posted), currency: 'BRL', at: at('18:00:00') },
});
const disputeReturned = (amount: number): PaymentEvent => ({
  type: 'TransactionDisputeReturned',
  data: { caseId: CASE_ID, amount: toMinor(amount), currency: 'BRL', at: at('18:00:00') },
});
const disputeSettled = (verdict: 'held' | 'lost' | 'nothing', amount: number): PaymentEvent => ({
  type: 'TransactionDisputeSettled',
  data: {
    caseId: CASE_ID,
    verdict,
    amount: toMinor(amount),
    currency: 'BRL',
    reason: 'x',
    by: 'operator:ana',
    announced: true,
    at: at('18:00:00'),
  },
});
const PART = { amount: toMinor(5_000) };
const BORNE = { feePaidBy: 'merchant' as const };
const FREE = { fee: toMinor(0), strategy: 'devolution' as const, destination: null };
const MONEY: readonly (readonly [string, PaymentEvent, ReturnType<typeof entry>])[] = [
  [
    'settlement, available at once',
    settled(),
    entry(
      SETTLED_AT,
      ['provider_clearing', -12_345],
      ['merchant_available', 12_212],
      ['provider_fees', 10],
      ['platform_fees', 123],
    ),
  ],
  [
    'settlement, pending until the release',
    settled({ availableAt: at('14:05:01') }),
    entry(
      SETTLED_AT,
      ['provider_clearing', -12_345],
      ['merchant_pending', 12_212],
      ['provider_fees', 10],
      ['platform_fees', 123],
    ),
  ],
  [
    'settlement without fees, without empty postings',
    settled({ providerFee: toMinor(0), platformFee: toMinor(0), netAmount: toMinor(12_345) }),
    entry(SETTLED_AT, ['provider_clearing', -12_345], ['merchant_available', 12_345]),
  ],
  [
    'release of funds',
    released(),
    entry(at('14:05:01'), ['merchant_pending', -12_212], ['merchant_available', 12_212]),
  ],
  ['payment held for review', held(), entry(SETTLED_AT, ['provider_clearing', -12_345], ['payer_returns', 12_345])],
  [
    'rejected payment',
    sentBack('wrong_amount', { amount: toMinor(5) }),
    entry(SETTLED_AT, ['provider_clearing', -5], ['payer_returns', 5]),
  ],
  [
    'release of a held payment, no longer owed to the payer',
    heldReleased(),
    entry(at('13:20:00'), ['payer_returns', -12_345], ['provider_clearing', 12_345]),
  ],
  [
    'settlement by card, pending for two days',
    settledByCard(),
    entry(
      SETTLED_AT,
      ['provider_clearing', -12_345],
      ['merchant_pending', 11_883],
      ['provider_fees', 339],
      ['platform_fees', 123],
    ),
  ],
  [
    'reserved refund, with the fee borne by the platform',
    refundReserved(PART),
    entry(REFUND_REQUESTED_AT, ['merchant_available', -5_000], ['refunds_in_transit', 5_000]),
  ],
  [
    'reserved refund, with the fee borne by the merchant',
    refundReserved({ ...PART, ...BORNE }),
    entry(REFUND_REQUESTED_AT, ['merchant_available', -5_050], ['refunds_in_transit', 5_050]),
  ],
  [
    'reserved refund without a fee',
    refundReserved({ ...PART, ...FREE }),
    entry(REFUND_REQUESTED_AT, ['merchant_available', -5_000], ['refunds_in_transit', 5_000]),
  ],
  [
    'completed refund, with the fee borne by the platform',
    refundCompleted(PART),
    entry(
      REFUNDED_AT,
      ['refunds_in_transit', -5_000],
      ['provider_clearing', 5_000],
      ['provider_fees', 50],
      ['platform_fees', -50],
    ),
  ],
  [
    'completed refund, with the fee borne by the merchant',
    refundCompleted({ ...PART, ...BORNE }),
    entry(REFUNDED_AT, ['refunds_in_transit', -5_050], ['provider_clearing', 5_000], ['provider_fees', 50]),
  ],
  [
    'completed refund without a fee',
    refundCompleted({ ...PART, ...FREE }, null),
    entry(REFUNDED_AT, ['refunds_in_transit', -5_000], ['provider_clearing', 5_000]),
  ],
  [
    'failed refund, with the fee borne by the platform',
    refundReleased(PART),
    entry(REFUNDED_AT, ['refunds_in_transit', -5_000], ['merchant_available', 5_000]),
  ],
  [
    'failed refund, with the fee returned to the merchant (M7a)',
    refundReleased({ ...PART, ...BORNE }),
    entry(REFUNDED_AT, ['refunds_in_transit', -5_050], ['merchant_available', 5_050]),
  ],
  ...(['CHARGEBACK', 'DISPUTE'] as const).map(
    (kind) =>
      [
        `opened ${kind}, from available to retained (M9)`,
        disputeOpened(kind, 7_345),
        entry(at('16:00:00'), ['merchant_available', -7_345], ['merchant_retained', 7_345]),
      ] as const,
  ),
  ...(
    [
      ['refunded_to_merchant', 'merchant_available'],
      ['closed_without_refund', 'disputes'],
      ['lost', 'disputes'],
    ] as const
  ).map(
    ([moneyOutcome, account]) =>
      [
        `dispute that ended as ${moneyOutcome}, from retained to ${account} (M9)`,
        disputeResolved(moneyOutcome, 7_345),
        entry(at('18:00:00'), ['merchant_retained', -7_345], [account, 7_345]),
      ] as const,
  ),
  [
    'return by the bank to the payer of a dispute, from disputes to provider_clearing (Q11)',
    disputeReturned(7_000),
    entry(at('18:00:00'), ['disputes', -7_000], ['provider_clearing', 7_000]),
  ],
  [
    'return outside Quita that counts as that of a lost dispute, whose ruling was posted: back from disputes, and not paid twice (V10)',
    disputeReturnCounted(7_000, 7_000),
    entry(
      at('18:00:00'),
      ['merchant_available', 7_000],
      ['disputes', -7_000],
      ['disputes', 7_000],
      ['provider_clearing', -7_000],
    ),
  ],
  [
    'return outside Quita that counts as that of a lost dispute, without a ruling (V10)',
    disputeReturnCounted(7_000, 0),
    entry(at('18:00:00'), ['merchant_available', 7_000], ['disputes', -7_000]),
  ],
  [
    'returns by the banks beyond a lost dispute (V10)',
    disputeReturnCounted(-500, 0),
    entry(at('18:00:00'), ['merchant_available', -500], ['disputes', 500]),
  ],
  [
    'mismatch settled as held, from available to retained (Q1)',
    disputeSettled('held', 500),
    entry(at('18:00:00'), ['merchant_available', -500], ['merchant_retained', 500]),
  ],
  [
    'mismatch settled as lost, from available to disputes (Q1)',
    disputeSettled('lost', 500),
    entry(at('18:00:00'), ['merchant_available', -500], ['disputes', 500]),
  ],
  ['mismatch settled as nothing', disputeSettled('nothing', 0), entry(at('18:00:00'))],
  ['return to the payer', returned(), entry(at('13:05:02'), ['payer_returns', -12_345], ['provider_clearing', 12_345])],
];

describe('journalEntry', () => {
  for (const [name, event, expected] of MONEY)
    it(`has the expected postings: ${name}`, () => expect(journalEntry(event)).to.deep.equal(expected));
  for (const [name, event] of MONEY)
    it(`sums to zero: ${name}`, () => {
      const { postings } = journalEntry(event) ?? { postings: [] };
      expect(postings.reduce((sum, { amount }) => sum + amount, 0)).to.equal(0);
    });
  const STORIES: readonly (readonly [string, readonly PaymentEvent[], Record<string, number>])[] = [
    [
      'full refund, with the fee borne by the platform',
      [settled(), refundReserved(), refundCompleted()],
      { merchant_available: -133, provider_fees: 60, platform_fees: 73 },
    ],
    [
      'full refund, with the fee borne by the merchant',
      [settled(), refundReserved(BORNE), refundCompleted(BORNE)],
      { merchant_available: -183, provider_fees: 60, platform_fees: 123 },
    ],
    [
      'failed refund',
      [settled(), refundReserved(BORNE), refundReleased(BORNE)],
      { provider_clearing: -12_345, merchant_available: 12_212, provider_fees: 10, platform_fees: 123 },
    ],
    [
      'held payment whose return the provider refused, then released and settled',
      [held(), heldRejected('operator'), returnRefused(), heldReleased(), settled()],
      { provider_clearing: -12_345, merchant_available: 12_212, provider_fees: 10, platform_fees: 123 },
    ],
    [
      'wrong amount whose return the provider refused',
      [sentBack('wrong_amount', { amount: toMinor(5) }), returnRefused({ amount: 5 })],
      { provider_clearing: -5, payer_returns: 5 },
    ],
    [
      'held payment, released and settled',
      [held(), heldReleased(), settled()],
      { provider_clearing: -12_345, merchant_available: 12_212, provider_fees: 10, platform_fees: 123 },
    ],
    [
      'lost dispute, with everything returned to the payer',
      [settled(), disputeOpened('DISPUTE'), disputeResolved('lost'), disputeReturned(12_345)],
      { merchant_available: -133, provider_fees: 10, platform_fees: 123 },
    ],
    [
      'lost dispute, with a part returned to the payer and the rest in disputes',
      [settled(), disputeOpened('DISPUTE'), disputeResolved('lost'), disputeReturned(12_000)],
      { provider_clearing: -345, disputes: 345, merchant_available: -133, provider_fees: 10, platform_fees: 123 },
    ],
    [
      'won dispute',
      [settled(), disputeOpened('DISPUTE'), disputeResolved('refunded_to_merchant')],
      { provider_clearing: -12_345, merchant_available: 12_212, provider_fees: 10, platform_fees: 123 },
    ],
    ['held payment that was returned', [held(), heldRejected('operator'), returned()], {}],
  ];
  for (const [name, events, left] of STORIES)
    it(`leaves the right balances: ${name}`, () => {
      const sums: Record<string, number> = {};
      for (const { account, amount } of events.flatMap((event) => journalEntry(event)?.postings ?? []))
        sums[account] = (sums[account] ?? 0) + amount;
      expect(Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0))).to.deep.equal(left);
    });
  const IDLE = [
    created(),
    issued(),
    otherIssued(card()),
    refusedInstrument('BOLETO'),
    expired(),
    failed(),
    cancelRequested(),
    cancelled(),
    resendRequested(1, 1),
    processing(),
    refused('CREDIT_CARD', true),
    heldRejected('operator'), // The payer is still owed the money until it is returned.
    heldRejected('cancelled'),
    returnRefused(), // The payer is still owed the money.
    returnRetried('return-2'),
  ];
  for (const event of IDLE) it(`returns null for ${event.type}`, () => expect(journalEntry(event)).to.equal(null));
  it('uses these ledger accounts', () => {
    expect(LEDGER_ACCOUNTS).to.deep.equal([
      'merchant_available',
      'merchant_pending',
      'merchant_retained',
      'refunds_in_transit',
      'payouts_in_transit',
      'provider_clearing',
      'provider_fees',
      'platform_fees',
      'payer_returns',
      'disputes',
    ]);
  });
});

describe('trancheChange', () => {
  it('returns the net amount until its release date, or null if it is available at once', () => {
    const later = settled();
    if (later.type !== 'TransactionSettled') throw new Error('no settlement');
    const availableAt = at('13:00:00');
    const waiting = { ...later, data: { ...later.data, availableAt } };
    const { currency, netAmount: amount } = later.data;
    expect(trancheChange(waiting)).to.deep.equal({ kind: 'held', currency, amount, releaseAt: availableAt });
    expect(trancheChange({ ...later, data: { ...later.data, availableAt: null } })).to.equal(null);
  });
});
