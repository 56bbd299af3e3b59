import { payment } from '../../../domain/payment/payment.ts';
import { requestResend } from '../../../domain/payment/resend.ts';
import { given } from '../../support/given.ts';
import { at, created, expired, issued, resendRequested, settled } from '../../support/samples.ts';

const PAID = [created(), issued(), settled()];

describe('requestResend (W8)', () => {
  const ask = requestResend(2, at('17:00:00'));
  it('numbers the requests of a payment', () => {
    given(payment, ...PAID)
      .when(ask)
      .then(resendRequested(2, 1), 1)
      .and()
      .when(ask) // twice is two resends: the merchant asked for both
      .then(resendRequested(2, 2), 2);
  });
  it('goes on counting with another event', () => {
    given(payment, created(), issued(), expired(), resendRequested(2, 1), settled())
      .when(requestResend(4, at('17:00:00')))
      .then(resendRequested(4, 2), 2);
  });
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(ask)
      .throws(/never created/));
});
