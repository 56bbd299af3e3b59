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
const returnId = `return-${END_TO_END_ID}`;

const UNPAID: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['nothing', [], NONE],
  ['a card in flight', [processing()], { ...NONE, status: 'processing', method: 'CREDIT_CARD' }],
  [
    'a second one in flight changes nothing',
    [processing(), processing('BOLETO')],
    { ...NONE, status: 'processing', method: 'CREDIT_CARD' },
  ],
  ['declined, others may pay', [processing(), refused('CREDIT_CARD', false)], { ...NONE, declined: ['CREDIT_CARD'] }],
  [
    'another one declined leaves the one in flight',
    [processing(), refused('BOLETO', false)],
    { ...NONE, status: 'processing', method: 'CREDIT_CARD', declined: ['BOLETO'] },
  ],
  [
    'the last one declined',
    [refused('BOLETO', false), refused('CREDIT_CARD', true)],
    { ...NONE, status: 'refused', declined: ['BOLETO', 'CREDIT_CARD'], failure },
  ],
  [
    'in flight after that changes nothing',
    [refused('CREDIT_CARD', true), processing()],
    { ...NONE, status: 'refused', declined: ['CREDIT_CARD'], failure },
  ],
  [
    'a wrong amount',
    [sentBack('wrong_amount', { amount: toMinor(5) })],
    {
      ...NONE,
      incomingPayments: [
        seen({ amount: toMinor(5), outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1', payer }),
      ],
    },
  ],
  [
    'a wrong amount from whom the bank doesn’t name',
    [sentBack('wrong_amount', { payer: { name: null, document: null } })],
    { ...NONE, incomingPayments: [seen({ outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1' })] },
  ],
  [
    'a wrong amount that went back',
    [sentBack('wrong_amount'), returned()],
    { ...NONE, incomingPayments: [seen({ outcome: 'returned', reason: 'wrong_amount', returnId: 'return-1', payer })] },
  ],
  [
    'a wrong amount while a card is in flight',
    [processing(), sentBack('wrong_amount')],
    {
      ...NONE,
      status: 'processing',
      method: 'CREDIT_CARD',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'wrong_amount', returnId: 'return-1', payer })],
    },
  ],
  [
    'on its way back by the payer lock',
    [sentBack('payer_mismatch')],
    {
      ...NONE,
      status: 'returning',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'payer_mismatch', returnId: 'return-1' })],
      incoming: incoming(),
    },
  ],
  [
    'returned by the payer lock',
    [sentBack('payer_mismatch'), returned()],
    {
      ...NONE,
      status: 'returned',
      incomingPayments: [seen({ outcome: 'returned', reason: 'payer_mismatch', returnId: 'return-1' })],
      incoming: incoming(),
      returnedAt: at('13:05:02'),
    },
  ],
  [
    'a second one that went back first leaves it on its way',
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
          reason: 'second_payment',
          payer,
          returnId: 'return-1',
        }),
      ],
      incoming: incoming(),
    },
  ],
  ['held', [held()], { ...NONE, status: 'held', incomingPayments: [seen({ outcome: 'held' })], incoming: nameless }],
  [
    'held, an operator sends it back',
    [held(), heldRejected('operator')],
    {
      ...NONE,
      status: 'returning',
      incomingPayments: [seen({ outcome: 'rejected', reason: 'operator', returnId })],
      incoming: nameless,
    },
  ],
  [
    'held, an operator sent it back',
    [held(), heldRejected('operator'), returned()],
    {
      ...NONE,
      status: 'returned',
      incomingPayments: [seen({ outcome: 'returned', reason: 'operator', returnId })],
      incoming: nameless,
      returnedAt: at('13:05:02'),
    },
  ],
  [
    'held, cancelled',
    [held(), heldRejected('cancelled'), returned()],
    { ...NONE, incomingPayments: [seen({ outcome: 'returned', reason: 'cancelled', returnId })] },
  ],
  ['a held one rejected that is not held changes nothing', [heldRejected('operator')], NONE],
  [
    'what is of settled money, without any, changes nothing',
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
  ['settled', [settled()], SETTLED],
  [
    'settled by a card that was in flight, after another method was declined',
    [processing(), refused('BOLETO', false), settledByCard()],
    {
      ...SETTLED,
      incomingPayments: [seen({ method: 'CREDIT_CARD', providerPaymentId: 'card-1' })],
      declined: ['BOLETO'],
      settlement: settlementOf(settledByCard()),
    },
  ],
  [
    'held, then let pass: one incoming payment',
    [held(), heldReleased(), settled({ incoming: nameless })],
    {
      ...SETTLED,
      incomingPayments: [seen({ reason: 'released' })],
      settlement: settlementOf(settled({ incoming: nameless })),
    },
  ],
  ['released', [settled(), released()], { ...SETTLED, releasedAt: at('14:05:01') }],
  ['refund reserved', [settled(), refundReserved()], { ...SETTLED, refunds: [refund()] }],
  [
    'refund completed',
    [settled(), refundReserved(), refundCompleted()],
    { ...SETTLED, refunds: [refund({ outcome: completed })] },
  ],
  [
    'refund failed',
    [settled(), refundReserved(), refundReleased()],
    { ...SETTLED, refunds: [refund({ outcome: failed })] },
  ],
  [
    'several refunds, in the order of their reservation',
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
  ['the end of a refund that was never reserved changes nothing', [settled(), refundCompleted()], SETTLED],
  [
    'disputed',
    [settled(), disputeOpened('DISPUTE', 7_345)],
    {
      ...SETTLED,
      dispute: {
        ...ALLEGATION,
        caseId: CASE_ID,
        kind: 'DISPUTE',
        amount: toMinor(7_345),
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
    'in flight or declined after that changes nothing',
    [settled(), processing(), refused('CREDIT_CARD', true)],
    SETTLED,
  ],
  [
    'a second one that went back',
    [settled(), sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID }), returned(OTHER_END_TO_END_ID)],
    {
      ...SETTLED,
      incomingPayments: [
        seen(),
        seen({
          providerPaymentId: OTHER_END_TO_END_ID,
          outcome: 'returned',
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
