import { expect } from 'chai';
import { toMinor } from '../../../domain/kernel/money.ts';
import {
  type RefundEvent,
  type RefundOrder,
  type RefundOutcome,
  recordRefundOutcome,
  refund,
  requestRefund,
} from '../../../domain/refund/refund.ts';
import { given } from '../../support/given.ts';
import {
  ACCOUNT_ID,
  at,
  END_TO_END_ID,
  LOCKED_TO,
  PAYMENT_ID,
  REFUND_ID,
  REFUND_REQUESTED_AT,
  REFUNDED_AT,
} from '../../support/samples.ts';

const ORDER: RefundOrder = {
  refundId: REFUND_ID,
  paymentId: PAYMENT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
  amount: toMinor(12_345),
  currency: 'BRL',
  method: 'PIX',
  strategy: 'cashout',
  destination: LOCKED_TO,
  providerPaymentId: END_TO_END_ID,
};
const requested: RefundEvent = { type: 'RefundRequested', data: { ...ORDER, at: REFUND_REQUESTED_AT } };
const submitted: RefundEvent = { type: 'RefundSubmitted', data: { at: REFUNDED_AT } };
const unknown: RefundEvent = { type: 'RefundOutcomeUnknown', data: { at: REFUNDED_AT } };
const completed: RefundEvent = { type: 'RefundCompleted', data: { endToEndId: 'E-out-1', at: REFUNDED_AT } };
const failed: RefundEvent = { type: 'RefundFailed', data: { reason: 'account closed', at: REFUNDED_AT } };

describe('requestRefund', () => {
  const request = requestRefund(ORDER, REFUND_REQUESTED_AT);
  it('records the order and is idempotent', () => {
    given(refund).when(request).then(requested, 'requested').again('requested');
  });
  it('keeps the first order when repeated with other content', () => {
    const other = requestRefund({ ...ORDER, amount: toMinor(1), destination: null }, at('18:00:00'));
    for (const after of [[], [submitted], [unknown], [completed], [failed]])
      given(refund, requested, ...after)
        .when(other)
        .then('requested');
  });
});

const OUTCOMES: readonly (readonly [RefundOutcome, RefundEvent])[] = [
  [{ kind: 'processing' }, submitted],
  [{ kind: 'unknown' }, unknown],
  [{ kind: 'confirmed', endToEndId: 'E-out-1' }, completed],
  [{ kind: 'refused', reason: 'account closed' }, failed],
];
const record = (outcome: RefundOutcome, when = REFUNDED_AT) => recordRefundOutcome(outcome, when);

describe('recordRefundOutcome', () => {
  for (const [outcome, event] of OUTCOMES)
    describe(outcome.kind, () => {
      it('is recorded once after the request', () => {
        given(refund, requested).when(record(outcome)).then(event, 'recorded').again('nothing');
      });
      it('is recorded once after an unknown outcome, if it is new', () => {
        if (outcome.kind === 'unknown') given(refund, requested, unknown).when(record(outcome)).then('nothing');
        else given(refund, requested, unknown).when(record(outcome)).then(event, 'recorded').again('nothing');
      });
      it('is recorded once while the provider is processing, if it is new', () => {
        const isNothingNew = outcome.kind === 'processing' || outcome.kind === 'unknown';
        if (isNothingNew) given(refund, requested, submitted).when(record(outcome)).then('nothing');
        else given(refund, requested, submitted).when(record(outcome)).then(event, 'recorded').again('nothing');
      });
      it('is ignored after the end', () => {
        for (const end of [completed, failed])
          if (outcome.kind !== 'confirmed' || end !== failed)
            given(refund, requested, end)
              .when(record(outcome, at('18:00:00')))
              .then('nothing');
      });
      it('is ignored for a refund that was never requested', () => given(refund).when(record(outcome)).then('nothing'));
    });
  it('ignores further unknown and processing outcomes once both are recorded', () => {
    const story = given(refund, requested, unknown, submitted);
    for (const kind of ['unknown', 'processing'] as const) story.when(record({ kind })).then('nothing');
  });
  it('records a confirmation after a failure once and keeps the refund failed', () => {
    const late: RefundEvent = { type: 'RefundConfirmedLate', data: { endToEndId: 'E-late', at: REFUNDED_AT } };
    given(refund, requested, failed)
      .when(record({ kind: 'confirmed', endToEndId: 'E-late' }))
      .then(late, 'recorded')
      .again('nothing');
    const { state } = given(refund, requested, failed, late);
    expect(state).to.deep.include({ status: 'failed', late: late.data });
  });
  it('keeps the first end when repeated with other content', () => {
    given(refund, requested, completed)
      .when(record({ kind: 'confirmed', endToEndId: 'E-out-2' }))
      .then('nothing');
    given(refund, requested, failed)
      .when(record({ kind: 'refused', reason: 'other' }))
      .then('nothing');
  });
  it('records a completion without an end-to-end id', () => {
    given(refund, requested)
      .when(record({ kind: 'confirmed', endToEndId: null }))
      .then({ type: 'RefundCompleted', data: { endToEndId: null, at: REFUNDED_AT } }, 'recorded');
  });
});

describe('the state of a refund', () => {
  const known = { order: ORDER, requestedAt: REFUND_REQUESTED_AT };
  const sent = { ...known, sentAt: REFUNDED_AT };
  const STATES: readonly (readonly [string, readonly RefundEvent[], unknown])[] = [
    ['is absent without events', [], { status: 'absent' }],
    ['is absent if the request is missing', [submitted, completed], { status: 'absent' }],
    ['is requested after the request', [requested], { status: 'requested', ...known }],
    [
      'is submitted, with the time of the first order',
      [requested, unknown, { ...submitted, data: { at: at('18:00:00') } }],
      { status: 'submitted', ...sent },
    ],
    ['is unknown while the outcome is unknown', [requested, submitted, unknown], { status: 'unknown', ...sent }],
    [
      'stays completed after later events',
      [requested, submitted, completed, failed, submitted],
      { status: 'completed', ...sent, endToEndId: 'E-out-1', completedAt: REFUNDED_AT },
    ],
    [
      'stays failed after later events',
      [requested, failed, completed, requested],
      { status: 'failed', ...known, reason: 'account closed', failedAt: REFUNDED_AT },
    ],
  ];
  for (const [name, history, state] of STATES)
    it(name, () => expect(given(refund, ...history).state).to.deep.equal(state));
});
