import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { EventId } from '../../../domain/kernel/ids.ts';
import { type Payout, type PayoutEvent, type PayoutState, payout } from '../../../domain/payout/payout.ts';
import { payoutPublisher, payoutStatus, requestedPayoutView } from '../../../domain/payout/presentation.ts';
import { maskedPixKey } from '../../../domain/presentation/payout.ts';
import { HISTORIES, type History, PAYOUT_ID } from '../payout/samples.ts';

const EVENT_ID = '0'.repeat(26) as EventId;

describe('maskedPixKey (Y2)', () => {
  for (const [key, masked] of [
    ['12345678909', '123***09'],
    ['12ABC34501DE35', '12A***35'],
    ['+5511987654321', '+55***21'],
    ['ana@example.com', 'a***@example.com'],
    ['123e4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  ] as const)
    it(`masks ${key} as ${masked}`, () => expect(maskedPixKey(key)).to.equal(masked));
});

const SHOWN: { readonly [name in Exclude<History, 'absent' | 'abandoned'>]: object } = {
  awaitingApproval: { status: 'pending', awaiting_approval: true },
  ready: { status: 'pending' },
  approved: { status: 'pending' },
  submitted: { status: 'processing' },
  unknown: { status: 'processing' },
  paid: { status: 'paid', end_to_end_id: 'E-out-1', paid_at: '2026-11-21T15:00:01.000Z' },
  failed: { status: 'failed', failure_reason: 'account closed' },
  paidLate: { status: 'paid', end_to_end_id: 'E-out-1', paid_at: '2026-11-21T15:00:01.000Z' },
  rejected: { status: 'failed', failure_reason: 'rejected' },
  cancelled: { status: 'cancelled' },
};

describe('requestedPayoutView (Y2)', () => {
  for (const [name, shown] of Object.entries(SHOWN))
    it(`shows ${JSON.stringify(shown)} while ${name}`, () => {
      const state = fold(payout, HISTORIES[name as History]) as Payout;
      expect(requestedPayoutView(state)).to.deep.equal({
        id: `po_${PAYOUT_ID}`,
        object: 'payout',
        amount: 1_000,
        currency: 'BRL',
        method: 'pix',
        destination: 'a***@example.com',
        refund_id: null,
        charge_id: null,
        fee: 50,
        end_to_end_id: null,
        failure_reason: null,
        created_at: '2026-11-21T15:00:00.000Z',
        paid_at: null,
        description: 'Repasse',
        metadata: { order: 'A-1' },
        awaiting_approval: false,
        ...shown,
      });
      expect(payoutStatus(state)).to.equal((shown as { status: string }).status);
    });
});

describe('payout messages (Y2, W9, M11)', () => {
  const messagesOf = (events: readonly PayoutEvent[]) => {
    let before: PayoutState = payout.initial;
    return events.flatMap((event) => {
      const after = payout.evolve(before, event);
      const messages = payoutPublisher.messagesOf(before, event, after).map(({ type, render }) => ({
        type,
        body: JSON.parse(render(EVENT_ID)) as {
          data: { object?: { status: string }; status?: string; previousStatus?: string };
        },
      }));
      before = after;
      return messages;
    });
  };
  const told = (name: History) =>
    messagesOf(HISTORIES[name]).map(({ type, body: { data } }) =>
      data.object ? `${type} ${data.object.status}` : `${type} ${data.previousStatus}>${data.status}`,
    );
  const CREATED = ['payout.created pending', 'withdrawal.created PENDING>PENDING'];
  const ended = (type: string, status: string, legacy: string, change: string) => [
    `payout.${type} ${status}`,
    `withdrawal.${legacy} ${change}`,
    `withdrawal.status_changed ${change}`,
  ];
  const TOLD: { readonly [name in History]: readonly string[] } = {
    absent: [],
    abandoned: [],
    awaitingApproval: CREATED,
    ready: CREATED,
    approved: CREATED,
    submitted: CREATED,
    unknown: CREATED,
    paid: [...CREATED, ...ended('paid', 'paid', 'completed', 'PROCESSING>PAID')],
    failed: [...CREATED, ...ended('failed', 'failed', 'failed', 'PROCESSING>REFUSED')],
    paidLate: [
      ...CREATED,
      ...ended('failed', 'failed', 'failed', 'PROCESSING>REFUSED'),
      ...ended('paid', 'paid', 'completed', 'REFUSED>PAID'),
    ],
    rejected: [...CREATED, ...ended('failed', 'failed', 'failed', 'PENDING>REFUSED')],
    cancelled: [...CREATED, ...ended('failed', 'cancelled', 'failed', 'PENDING>CANCELLED')],
  };
  for (const [name, expected] of Object.entries(TOLD))
    it(`sends ${expected.length} messages in a history that ends as ${name}`, () =>
      expect(told(name as History)).to.deep.equal(expected));
  it('sends a legacy message with these fields for a paid payout', () => {
    expect(messagesOf(HISTORIES.paid)[3]?.body).to.deep.equal({
      event: 'withdrawal.completed',
      data: {
        transactionId: `tx_${PAYOUT_ID}`,
        withdrawalId: `po_${PAYOUT_ID}`,
        amount: 1_000,
        status: 'PAID',
        previousStatus: 'PROCESSING',
        paidWith: 'PIX',
        providerFee: 0,
        platformFee: 0,
        netAmount: 1_000,
        occurredAt: '2026-11-21T15:00:01.000Z',
      },
    });
  });
});
