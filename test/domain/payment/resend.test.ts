import { payment } from '../../../domain/payment/payment.ts';
import { requestResend } from '../../../domain/payment/resend.ts';
import { given } from '../../support/given.ts';
import { at, created, expired, issued, resendRequested, settled } from '../../support/samples.ts';

const PAID = [created(), issued(), settled()];

describe('requestResend (W8)', () => {
  const ask = requestResend({ ofRevision: 2, isWanted: true }, at('17:00:00'));
  it('numbers the resends of a payment', () => {
    given(payment, ...PAID)
      .when(ask)
      .then(resendRequested(2, 1), 1)
      .and()
      .when(ask) // A second request is a second resend.
      .then(resendRequested(2, 2), 2);
  });
  it('continues the numbering with another event', () => {
    given(payment, created(), issued(), expired(), resendRequested(2, 1), settled())
      .when(requestResend({ ofRevision: 4, isWanted: true }, at('17:00:00')))
      .then(resendRequested(4, 2), 2);
  });
  it('counts resends that no endpoint is subscribed to', () => {
    given(payment, ...PAID)
      .when(requestResend({ ofRevision: 2, isWanted: false }, at('17:00:00')))
      .then(resendRequested(2, 1, false), 1)
      .and()
      .when(ask)
      .then(resendRequested(2, 2), 2);
  });
  it('rejects resends after the hundredth, including those without a subscriber (M7)', () => {
    const before = Array.from({ length: 99 }, (_, i) => resendRequested(2, i + 1, i % 2 === 0));
    given(payment, ...PAID, ...before)
      .when(ask)
      .then(resendRequested(2, 100), 100)
      .and()
      .when(ask)
      .rejected('resend_limit_reached');
  });
  it('throws if the payment was never created', () =>
    given(payment)
      .when(ask)
      .throws(/never created/));
});
