// Outcomes of refunds, payouts and returns that an operator enters because an institution never answers (rule V9).
import { expect } from 'chai';
import type { EnteredOutcome } from '../../../domain/kernel/enteredOutcome.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, DAY_MS, type Timestamp } from '../../../domain/kernel/time.ts';
import { enterReturnOutcome } from '../../../domain/payment/lifecycle.ts';
import { payment } from '../../../domain/payment/payment.ts';
import { enterPayoutOutcome, recordPayoutOutcome } from '../../../domain/payout/decisions.ts';
import { payout } from '../../../domain/payout/payout.ts';
import { enterRefundOutcome, type RefundEvent, recordRefundOutcome, refund } from '../../../domain/refund/refund.ts';
import { given } from '../../support/given.ts';
import {
  ACCOUNT_ID,
  created,
  END_TO_END_ID,
  issued,
  PAYMENT_ID,
  REFUND_ID,
  REFUND_REQUESTED_AT,
  returned,
  returnRefused,
  sentBack,
} from '../../support/samples.ts';
import {
  LATER,
  requested as payoutRequested,
  submitted as payoutSubmitted,
  unknown as payoutUnknown,
} from '../payout/samples.ts';

const DONE: EnteredOutcome = { outcome: 'done', by: 'operator:maria', reason: 'The bank shows it.' };
const REFUSED: EnteredOutcome = { outcome: 'refused', by: 'operator:maria', reason: 'The bank never got it.' };
const dayAfter = (at: Timestamp) => addMillis(at, DAY_MS);
const tooSoon = (at: Timestamp) => addMillis(at, DAY_MS - 1);

const REQUESTED: RefundEvent = {
  type: 'RefundRequested',
  data: {
    ...{ refundId: REFUND_ID, paymentId: PAYMENT_ID, accountId: ACCOUNT_ID, mode: 'live', amount: toMinor(345) },
    ...{ currency: 'BRL', method: 'PIX', strategy: 'devolution', destination: null, providerPaymentId: END_TO_END_ID },
    at: REFUND_REQUESTED_AT,
  },
};
const UNKNOWN: RefundEvent = { type: 'RefundOutcomeUnknown', data: { at: REFUND_REQUESTED_AT } };

describe('an outcome entered by an operator', () => {
  const at = dayAfter(REFUND_REQUESTED_AT);
  it('ends a refund once; the opposite outcome is then rejected', () => {
    const entered: RefundEvent = { type: 'RefundOutcomeEntered', data: { ...DONE, at } };
    const done = given(refund, REQUESTED, UNKNOWN)
      .when(enterRefundOutcome(DONE, at))
      .then(entered, { type: 'RefundCompleted', data: { endToEndId: null, at } }, 'entered')
      .again('known');
    done.and().when(enterRefundOutcome(REFUSED, at)).rejected('invalid_request');
    given(refund, REQUESTED, UNKNOWN)
      .when(enterRefundOutcome(REFUSED, at))
      .then(
        { type: 'RefundOutcomeEntered', data: { ...REFUSED, at } },
        { type: 'RefundFailed', data: { reason: 'not_executed', at } },
        'entered',
      )
      .again('known')
      .and()
      .when(recordRefundOutcome({ kind: 'confirmed', endToEndId: 'E' }, at))
      .then({ type: 'RefundConfirmedLate', data: { endToEndId: 'E', at } }, 'recorded');
  });
  it('is rejected for a refund that is less than a day old, was not sent or does not exist', () => {
    given(refund, REQUESTED, UNKNOWN)
      .when(enterRefundOutcome(DONE, tooSoon(REFUND_REQUESTED_AT)))
      .rejected('invalid_request');
    given(refund, REQUESTED).when(enterRefundOutcome(DONE, at)).rejected('invalid_request');
    given(refund).when(enterRefundOutcome(DONE, at)).rejected('not_found');
  });

  const money = { amount: toMinor(1_000), fee: toMinor(50), currency: 'BRL' as const };
  it('ends a payout once; a later confirmation is recorded as late', () => {
    const later = dayAfter(LATER);
    const story = [payoutRequested(), payoutSubmitted, payoutUnknown];
    given(payout, ...story)
      .when(enterPayoutOutcome(DONE, later))
      .then(
        { type: 'PayoutOutcomeEntered', data: { ...DONE, at: later } },
        { type: 'PayoutPaid', data: { ...money, endToEndId: null, at: later } },
        'entered',
      )
      .again('known');
    given(payout, ...story)
      .when(enterPayoutOutcome(REFUSED, later))
      .then(
        { type: 'PayoutOutcomeEntered', data: { ...REFUSED, at: later } },
        { type: 'PayoutFailed', data: { ...money, reason: 'not_executed', at: later } },
        'entered',
      )
      .again('known')
      .and()
      .when(recordPayoutOutcome({ kind: 'confirmed', endToEndId: 'E' }, later))
      .then({ type: 'PayoutConfirmedLate', data: { ...money, endToEndId: 'E', at: later } }, 'recorded');
    given(payout, ...story)
      .when(enterPayoutOutcome(DONE, tooSoon(LATER)))
      .rejected('invalid_request');
    given(payout, payoutRequested()).when(enterPayoutOutcome(DONE, later)).rejected('invalid_request');
  });

  it('ends a return once; a refused return waits for an operator', () => {
    const rejected = sentBack('wrong_amount');
    if (rejected.type !== 'TransactionPaymentRejected') throw new Error('not rejected');
    const { returnId, at: askedAt, incoming } = rejected.data;
    const later = dayAfter(askedAt);
    const order = { providerPaymentId: END_TO_END_ID, returnId, askedAt };
    const { amount } = incoming;
    const story = given(payment, created(), issued(), rejected);
    const about = { providerPaymentId: END_TO_END_ID, amount, currency: 'BRL', at: later };
    story
      .when(enterReturnOutcome(order, DONE, later))
      .then(
        { type: 'TransactionReturnOutcomeEntered', data: { providerPaymentId: END_TO_END_ID, ...DONE, at: later } },
        { type: 'TransactionPaymentReturned', data: { ...about, returnId: null } },
        'entered',
      )
      .again('known');
    story
      .when(enterReturnOutcome(order, REFUSED, later))
      .then(
        { type: 'TransactionReturnOutcomeEntered', data: { providerPaymentId: END_TO_END_ID, ...REFUSED, at: later } },
        { type: 'TransactionReturnRefused', data: { ...about, reason: REFUSED.reason } },
        'entered',
      )
      .again('known');
    story.when(enterReturnOutcome(order, DONE, tooSoon(askedAt))).rejected('invalid_request');
    story.when(enterReturnOutcome({ ...order, returnId: 'other' }, DONE, later)).rejected('not_found');
    const ended = given(payment, created(), issued(), rejected, returned());
    expect(isRejection(enterReturnOutcome(order, REFUSED, later)(ended.state))).to.equal(true);
    given(payment, created(), issued(), rejected, returnRefused())
      .when(enterReturnOutcome(order, REFUSED, later))
      .then('known');
  });
});
