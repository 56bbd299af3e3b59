// How a refund ends, as reported by the provider (M7).

import { toMinor } from '../../../domain/kernel/money.ts';
import { addMillis, DAY_MS } from '../../../domain/kernel/time.ts';
import { payment } from '../../../domain/payment/payment.ts';
import { completeRefund, releaseRefund } from '../../../domain/payment/refund.ts';
import { given } from '../../support/given.ts';
import {
  created,
  disputeOpened,
  issued,
  OTHER_REFUND_ID,
  REFUND_ID,
  REFUNDED_AT,
  refundCompleted,
  refundReleased,
  refundReserved,
  SETTLED_AT,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const PAID = [...OPEN, settled()];
const APPROVED = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card()), settledByCard()];
const late = addMillis(SETTLED_AT, 90 * DAY_MS + 1);
const other = { refundId: OTHER_REFUND_ID };

describe('the end of a refund after a dispute opened', () => {
  const half = { amount: toMinor(5_000) };
  const disputed = given(payment, ...APPROVED, refundReserved(half), disputeOpened('DISPUTE', 7_345));
  it('completes the refund as usual', () => {
    disputed
      .when(completeRefund(REFUND_ID, 'E-out-1', REFUNDED_AT))
      .then(refundCompleted(half), 'recorded')
      .again('nothing');
  });
  it('returns the amount to the merchant if the refund fails, and keeps the dispute’s hold (Q1)', () => {
    disputed
      .when(releaseRefund(REFUND_ID, 'account closed', REFUNDED_AT))
      .then(refundReleased(half), 'recorded')
      .again('nothing');
  });
});

describe('the end of a refund', () => {
  const ENDS = [
    ['completeRefund', completeRefund(REFUND_ID, 'E-out-1', REFUNDED_AT), refundCompleted],
    ['releaseRefund', releaseRefund(REFUND_ID, 'account closed', REFUNDED_AT), refundReleased],
  ] as const;
  for (const [name, decide, event] of ENDS)
    describe(name, () => {
      it('records the reserved amount and fee, once', () => {
        given(payment, ...PAID, refundReserved())
          .when(decide)
          .then(event(), 'recorded')
          .again('nothing');
        const ofMerchant = { amount: toMinor(5), feePaidBy: 'merchant' as const };
        given(payment, ...PAID, refundReserved(ofMerchant))
          .when(decide)
          .then(event(ofMerchant), 'recorded')
          .again('nothing');
      });
      it('does nothing if the refund has already ended', () => {
        for (const [, , ended] of ENDS) {
          // A confirmation after a failure is recorded separately (settleHeld.test.ts).
          if (name === 'completeRefund' && ended === refundReleased) continue;
          given(payment, ...PAID, refundReserved(), ended())
            .when(decide)
            .then('nothing');
        }
      });
      it('ends only the given refund', () => {
        const half = { amount: toMinor(5_000) };
        given(payment, ...PAID, refundReserved({ ...other, ...half }), refundReserved(half))
          .when(decide)
          .then(event(half), 'recorded')
          .and()
          .when(completeRefund(OTHER_REFUND_ID, 'E-out-1', REFUNDED_AT))
          .then(refundCompleted({ ...other, ...half }), 'recorded');
      });
      it('ignores a refund that was never reserved', () => {
        for (const history of [OPEN, PAID, [...PAID, refundReserved(other)]])
          given(payment, ...history)
            .when(decide)
            .then('nothing');
      });
      it('throws if the payment was never created', () =>
        given(payment)
          .when(decide)
          .throws(/never created/));
    });
  it('keeps the first end when repeated with other content', () => {
    given(payment, ...PAID, refundReserved(), refundCompleted())
      .when(completeRefund(REFUND_ID, 'E-out-2', late))
      .then('nothing');
    given(payment, ...PAID, refundReserved(), refundReleased())
      .when(releaseRefund(REFUND_ID, 'other', late))
      .then('nothing');
  });
});
