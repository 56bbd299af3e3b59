// Pending work of a payment, which the watchdog finds if the job for it was lost (architecture §7).
import { expect } from 'chai';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { type PendingWork, pendingSince, pendingWork } from '../../../domain/payment/pendingWork.ts';
import {
  cancelled,
  cancelRequested,
  created,
  END_TO_END_ID,
  expired,
  failed,
  held,
  heldRejected,
  issued,
  OTHER_REFUND_ID,
  paymentAfter,
  processing,
  REFUND_ID,
  refundCompleted,
  refundReserved,
  refusedInstrument,
  released,
  returned,
  returnRefused,
  returnRetried,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const TWO = [created({ methods: ['CREDIT_CARD', 'BOLETO'] }), otherIssued(card()), otherIssued(boleto())];
const CANCEL = 'cancel 13:10:00';
const RETURN = `returnPayment ${END_TO_END_ID} 13:00:00`;
const EXPIRE = 'expire 14:00:00';

const OF_PAYMENTS = created({ api: 'payments', methods: ['PIX', 'BOLETO'] });
const CREATION = ['issueInstruments 13:00:00', 'resumeIssuing 13:09:00'];

/** Each entry has the form `<kind> <id, if any> <since when>`. */
const TABLE: readonly (readonly [string, readonly PaymentEvent[], readonly string[]])[] = [
  ['an interrupted creation', [created()], ['resumeIssuing 13:01:00']],
  ['a payment without instruments', [OF_PAYMENTS], CREATION],
  ['a payment with one of two instruments', [OF_PAYMENTS, issued()], CREATION],
  ['a payment whose second instrument was refused', [OF_PAYMENTS, issued(), refusedInstrument('BOLETO')], [EXPIRE]],
  ['an open payment', OPEN, [EXPIRE]],
  ['several methods, with the expiry of the last', TWO, ['expire 13:00:00']],
  ['a card payment in progress', [...CARD, processing()], ['expire 13:30:00']],
  ['a cancellation request', [...OPEN, cancelRequested()], [CANCEL]],
  ['a cancellation request before any instrument is issued', [created(), cancelRequested()], [CANCEL]],
  ['a cancellation request while a card payment is in progress', [...CARD, processing(), cancelRequested()], [CANCEL]],
  ['a cancellation request while a payment is held', [...OPEN, held(), cancelRequested()], [CANCEL]],
  ['a cancelled payment', [...OPEN, cancelRequested(), cancelled()], []],
  ['a payment that settled after a cancellation request', [...OPEN, cancelRequested(), settled()], []],
  [
    'a cancellation request while a wrong amount is being returned',
    [...OPEN, sentBack('wrong_amount'), cancelRequested()],
    [RETURN, CANCEL],
  ],
  ['a payment held for review', [...OPEN, held()], []],
  ['a held payment that an operator rejected', [...OPEN, held(), heldRejected('operator')], [RETURN]],
  ['a return that the provider refused', [...OPEN, held(), heldRejected('operator'), returnRefused()], []],
  [
    'a refused return that was requested again',
    [...OPEN, held(), heldRejected('operator'), returnRefused(), returnRetried('return-2')],
    [RETURN],
  ],
  ['a returned payment', [...OPEN, held(), heldRejected('operator'), returned()], []],
  ['an expired payment', [...OPEN, expired()], []],
  ['a failed creation', [created(), failed()], []],
  ['a settled payment', [...OPEN, settled()], []],
  [
    'a settled payment with a pending refund and funds to release',
    [...CARD, settledByCard(), refundReserved(), refundReserved({ refundId: OTHER_REFUND_ID }), refundCompleted()],
    [`refund ${OTHER_REFUND_ID} 15:00:00`, 'releaseFunds 13:05:01'],
  ],
  [
    'a released payment with a pending refund',
    [...CARD, settledByCard(), released(), refundReserved()],
    [`refund ${REFUND_ID} 15:00:00`],
  ],
];

const said = (work: PendingWork): string => {
  const which =
    work.kind === 'returnPayment' ? `${work.providerPaymentId} ` : work.kind === 'refund' ? `${work.refundId} ` : '';
  return `${work.kind} ${which}${work.at.slice(11, 19)}`;
};

describe('pendingWork', () => {
  for (const [name, history, expected] of TABLE)
    it(`returns ${expected.join(', ') || 'nothing'} for: ${name}`, () => {
      const payment = paymentAfter(...history);
      const found = pendingWork(payment);
      expect(pendingSince(payment)).to.equal(found.map(({ at }) => at).toSorted()[0] ?? null);
      expect(found.map(said)).to.deep.equal(expected);
    });
});
