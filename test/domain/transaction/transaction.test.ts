// How a transaction’s state follows from its events. The decisions about a transaction are tested in payment/.
import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import type { IncomingPaymentRecord } from '../../../domain/transaction/incomingPayment.ts';
import { type TransactionEvent, type TransactionState, transaction } from '../../../domain/transaction/transaction.ts';
import {
  ALLEGATION,
  at,
  CASE_ID,
  disputeOpened,
  END_TO_END_ID,
  held,
  heldRejected,
  heldReleased,
  incoming,
  OTHER_END_TO_END_ID,
  OTHER_REFUND_ID,
  processing,
  REFUND_FINGERPRINT,
  REFUND_REQUESTED_AT,
  REFUNDED_AT,
  refundCompleted,
  refundReleased,
  refundReserved,
  refundTerms,
  refused,
  released,
  returned,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';

const after = (...events: readonly PaymentEvent[]): TransactionState =>
  fold(transaction, events as readonly TransactionEvent[]);
const settlementOf = (event: PaymentEvent) => {
  if (event.type !== 'TransactionSettled') throw new Error(event.type);
  return event.data;
};

const seen = (over: Partial<IncomingPaymentRecord> = {}): IncomingPaymentRecord => ({
  method: 'PIX',
  providerPaymentId: END_TO_END_ID,
  amount: toMinor(12_345),
  outcome: 'settled',
  reason: null,
  returnId: null,
  ...over,
});
const { payer } = incoming();
const NONE = { status: 'none', incomingPayments: [], declined: [] };
const nameless = incoming({ payer: { name: 'X', document: null } });
const SETTLED = {
  status: 'settled',
  incomingPayments: [seen()],
  declined: [],
  settlement: settlementOf(settled()),
  releasedAt: null,
  refunds: [],
  dispute: null,
};
const failure = { reason: 'insufficient funds', providerErrorCode: 'declined', at: at('13:04:30') };
const lastMovedAt = at('13:05:02');
const returnId = `return-${END_TO_END_ID}`;

const UNPAID: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['is none without events', [], NONE],
  [
    'is processing while a card payment is in progress',
    [processing()],
    { ...NONE, status: 'processing', method: 'CREDIT_CARD' },
  ],
  [
    'ignores a second attempt while one is in progress',
    [processing(), processing('BOLETO')],
    { ...NONE, status: 'processing', method: 'CREDIT_CARD' },
  ],
  [
    'is none after a decline if other methods are left',
    [processing(), refused('CREDIT_CARD', false)],
    { ...NONE, declined: ['CREDIT_CARD'] },
  ],
  [
    'stays processing if another method is declined',
    [processing(), refused('BOLETO', false)],
    { ...NONE, status: 'processing', method: 'CREDIT_CARD', declined: ['BOLETO'] },
  ],
  [
    'is refused once the last method is declined',
    [refused('BOLETO', false), refused('CREDIT_CARD', true)],
    { ...NONE, status: 'refused', declined: ['BOLETO', 'CREDIT_CARD'], failure },
  ],
  [
    'ignores an attempt after the last method was declined',
    [refused('CREDIT_CARD', true), processing()],
    { ...NONE, status: 'refused', declined: ['CREDIT_CARD'], failure },
  ],
  [
    'lists a wrong amount as rejected, with its payer',
    [sentBack('wrong_amount', { amount: toMinor(5) })],
    {
      ...NONE,
      incomingPayments: [
        seen({ amount: toMinor(5), outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1', payer }),
      ],
    },
  ],
  [
    'lists a wrong amount without a payer if the bank names none',
    [sentBack('wrong_amount', { payer: { name: null, document: null } })],
    { ...NONE, incomingPayments: [seen({ outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1' })] },
  ],
  [
    'lists a wrong amount as returned after its return',
    [sentBack('wrong_amount'), returned()],
    {
      ...NONE,
      incomingPayments: [
        seen({ outcome: 'returned', lastMovedAt, reason: 'wrong_amount', returnId: 'return-1', payer }),
      ],
    },
  ],
  [
    'stays processing if a wrong amount arrives',
    [processing(), sentBack('wrong_amount')],
    {
      ...NONE,
      status: 'processing',
      method: 'CREDIT_CARD',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1', payer })],
    },
  ],
  [
    'is returning after a payer mismatch',
    [sentBack('payer_mismatch')],
    {
      ...NONE,
      status: 'returning',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'payer_mismatch', returnId: 'return-1' })],
      incoming: incoming(),
    },
  ],
  [
    'is returned once the mismatched payment is returned',
    [sentBack('payer_mismatch'), returned()],
    {
      ...NONE,
      status: 'returned',
      incomingPayments: [seen({ outcome: 'returned', lastMovedAt, reason: 'payer_mismatch', returnId: 'return-1' })],
      incoming: incoming(),
      returnedAt: at('13:05:02'),
    },
  ],
  [
    'stays returning if a second payment is returned first',
    [
      sentBack('payer_mismatch'),
      sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID }),
      returned(OTHER_END_TO_END_ID),
    ],
    {
      ...NONE,
      status: 'returning',
      incomingPayments: [
        seen({ outcome: 'rejected', reason: 'payer_mismatch', returnId: 'return-1' }),
        seen({
          providerPaymentId: OTHER_END_TO_END_ID,
          outcome: 'returned',
          lastMovedAt,
          reason: 'second_payment',
          payer,
          returnId: 'return-1',
        }),
      ],
      incoming: incoming(),
    },
  ],
  [
    'is held while a payment awaits review',
    [held()],
    {
      ...NONE,
      status: 'held',
      incomingPayments: [seen({ outcome: 'held' })],
      incoming: nameless,
    },
  ],
  [
    'is returning after an operator rejects the held payment',
    [held(), heldRejected('operator')],
    {
      ...NONE,
      status: 'returning',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'operator', returnId })],
      incoming: nameless,
    },
  ],
  [
    'is returned once the payment that an operator rejected is returned',
    [held(), heldRejected('operator'), returned()],
    {
      ...NONE,
      status: 'returned',
      incomingPayments: [seen({ outcome: 'returned', lastMovedAt, reason: 'operator', returnId })],
      incoming: nameless,
      returnedAt: at('13:05:02'),
    },
  ],
  [
    'is none once a held payment is returned because of a cancellation',
    [held(), heldRejected('cancelled'), returned()],
    { ...NONE, incomingPayments: [seen({ outcome: 'returned', lastMovedAt, reason: 'cancelled', returnId })] },
  ],
  ['ignores the rejection of a held payment if none is held', [heldRejected('operator')], NONE],
  [
    'ignores releases, refunds and disputes before a settlement',
    [released(), refundReserved(), refundCompleted(), disputeOpened()],
    NONE,
  ],
];
describe('the state of an unsettled transaction', () => {
  for (const [name, history, state] of UNPAID) it(name, () => expect(after(...history)).to.deep.equal(state));
});

const refund = (over: object = {}) => ({
  ...refundTerms(),
  fingerprint: REFUND_FINGERPRINT,
  requestedAt: REFUND_REQUESTED_AT,
  outcome: { status: 'reserved' },
  ...over,
});
const completed = { status: 'completed', endToEndId: 'E-out-1', at: REFUNDED_AT };
const failed = { status: 'failed', reason: 'account closed', at: REFUNDED_AT };
const PAID: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['is settled after the settlement', [settled()], SETTLED],
  [
    'keeps the declined methods when the card payment in progress settles',
    [processing(), refused('BOLETO', false), settledByCard()],
    {
      ...SETTLED,
      incomingPayments: [seen({ method: 'CREDIT_CARD', providerPaymentId: 'card-1' })],
      declined: ['BOLETO'],
      settlement: settlementOf(settledByCard()),
    },
  ],
  [
    'lists a held payment once after its release and settlement',
    [held(), heldReleased(), settled({ incoming: nameless })],
    {
      ...SETTLED,
      incomingPayments: [seen({ reason: 'released' })],
      settlement: settlementOf(settled({ incoming: nameless })),
    },
  ],
  ['stores when the funds were released', [settled(), released()], { ...SETTLED, releasedAt: at('14:05:01') }],
  ['lists a reserved refund', [settled(), refundReserved()], { ...SETTLED, refunds: [refund()] }],
  [
    'lists a completed refund',
    [settled(), refundReserved(), refundCompleted()],
    { ...SETTLED, refunds: [refund({ outcome: completed })] },
  ],
  [
    'lists a failed refund',
    [settled(), refundReserved(), refundReleased()],
    { ...SETTLED, refunds: [refund({ outcome: failed })] },
  ],
  [
    'lists refunds in the order of their reservation',
    [
      settled(),
      refundReserved({ amount: toMinor(5) }),
      refundReserved({ refundId: OTHER_REFUND_ID, amount: toMinor(7) }),
      refundCompleted({ refundId: OTHER_REFUND_ID, amount: toMinor(7) }),
    ],
    {
      ...SETTLED,
      refunds: [refund({ amount: 5 }), refund({ refundId: OTHER_REFUND_ID, amount: 7, outcome: completed })],
    },
  ],
  ['ignores the completion of a refund that was never reserved', [settled(), refundCompleted()], SETTLED],
  [
    'stores an opened dispute',
    [settled(), disputeOpened('DISPUTE', 7_345)],
    {
      ...SETTLED,
      dispute: {
        ...ALLEGATION,
        caseId: CASE_ID,
        kind: 'DISPUTE',
        amount: toMinor(7_345),
        taken: toMinor(7_345),
        amountMismatch: false,
        reportedAmount: toMinor(12_345),
        settling: null,
        returnedToPayer: toMinor(0),
        moneyOutcome: null,
        ending: null,
        ruledAt: null,
        revision: -1,
        lastEventAt: at('16:00:00'),
        earlier: [],
      },
    },
  ],
  [
    'ignores attempts and declines after the settlement',
    [settled(), processing(), refused('CREDIT_CARD', true)],
    SETTLED,
  ],
  [
    'lists a returned second payment',
    [settled(), sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID }), returned(OTHER_END_TO_END_ID)],
    {
      ...SETTLED,
      incomingPayments: [
        seen(),
        seen({
          providerPaymentId: OTHER_END_TO_END_ID,
          outcome: 'returned',
          lastMovedAt,
          reason: 'second_payment',
          payer,
          returnId: 'return-1',
        }),
      ],
    },
  ],
];
describe('the state of a settled transaction', () => {
  for (const [name, history, state] of PAID) it(name, () => expect(after(...history)).to.deep.equal(state));
});
