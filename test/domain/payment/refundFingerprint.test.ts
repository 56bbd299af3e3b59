// A repeated refund request is compared under the fingerprint rule of the original request (rule K2).
import { payment } from '../../../domain/payment/payment.ts';
import { type ReserveRefund, reserveRefund } from '../../../domain/payment/refund.ts';
import { given } from '../../support/given.ts';
import {
  created,
  issued,
  REFUND_FINGERPRINT,
  REFUND_ID,
  REFUND_REQUESTED_AT,
  refundReserved,
  refundTerms,
  settled,
} from '../../support/samples.ts';

const PAID = [created(), issued(), settled()];
const reserve = (over: Partial<ReserveRefund> = {}) =>
  reserveRefund(
    {
      refundId: REFUND_ID,
      fingerprintUnder: (version) => (version === 1 ? REFUND_FINGERPRINT.hash : 'of-another-rule'),
      fingerprintVersion: 2,
      amount: null,
      reason: null,
      strategy: null,
      passFeeToTenant: false,
      destinationKey: null,
      paysOut: true,
      allowedDestinations: null,
      ...over,
    },
    REFUND_REQUESTED_AT,
  );
const recorded = (fingerprint = REFUND_FINGERPRINT) => ({
  ...refundTerms(),
  fingerprint,
  requestedAt: REFUND_REQUESTED_AT,
  outcome: { status: 'reserved' as const },
});

describe('a refund requested under a newer fingerprint rule', () => {
  it('is recorded under the newer rule', () => {
    const fingerprint = { version: 2, hash: 'of-another-rule' };
    given(payment, ...PAID)
      .when(reserve())
      .then(
        { type: 'TransactionRefundReserved', data: { ...refundTerms(), fingerprint, at: REFUND_REQUESTED_AT } },
        { refund: recorded(fingerprint), replayed: false },
      );
  });
  it('replays a refund recorded under the older rule, any number of times', () => {
    const before = given(payment, ...PAID, refundReserved());
    for (const _ of ['once', 'twice']) before.when(reserve()).then({ refund: recorded(), replayed: true });
  });
  it('is rejected if its content differs under the older rule, even if it matches under the newer one', () => {
    const other = (version: number) => (version === 1 ? 'other' : REFUND_FINGERPRINT.hash);
    given(payment, ...PAID, refundReserved())
      .when(reserve({ fingerprintUnder: other }))
      .rejected('idempotency_key_reused', 'idempotencyKey');
  });
});
