import { recordCancelled, requestCancel } from '../../../domain/payment/cancel.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import {
  at,
  CANCELLED_AT,
  cancelled,
  cancelRequested,
  created,
  disputeOpened,
  expired,
  failed,
  held,
  heldRejected,
  heldReleased,
  issued,
  LOCKED_TO,
  processing,
  refundCompleted,
  refundReserved,
  refused,
  returned,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { card, otherIssued } from '../../world/instruments.ts';

const OPEN = [created(), issued()];
const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];

/** contract.md Transitions: "WAITING_PAYMENT, PENDING, PROCESSING | cancel | only in these states". */
const ALIVE: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['PENDING', [created()]],
  ['WAITING_PAYMENT', OPEN],
  ['WAITING_PAYMENT after a wrong amount arrived', [...OPEN, sentBack('wrong_amount')]],
  ['PROCESSING by card', [...CARD, processing()]],
];
const HELD: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['PROCESSING, held for review', [...LOCKED, held()]],
  ['PROCESSING, held for review after the expiry', [...LOCKED, expired(), held()]],
];
const NOT: readonly (readonly [string, readonly PaymentEvent[]])[] = [
  ['PAID', [...OPEN, settled()]],
  ['PAID after an operator released the held payment', [...LOCKED, held(), heldReleased(), settled()]],
  ['APPROVED', [...CARD, settledByCard()]],
  ['REFUNDED', [...OPEN, settled(), refundReserved(), refundCompleted()]],
  ['CHARGEBACK', [...CARD, settledByCard(), disputeOpened('CHARGEBACK')]],
  ['DISPUTE', [...CARD, settledByCard(), disputeOpened('DISPUTE')]],
  ['EXPIRED', [...OPEN, expired()]],
  ['REFUSED at its creation', [created(), failed()]],
  ['REFUSED by the issuer', [...CARD, refused('CREDIT_CARD', true)]],
  ['CANCELLED', [...OPEN, cancelRequested(), cancelled()]],
  ['CANCELLED while it was held', [...LOCKED, held(), cancelRequested(), cancelled(), heldRejected('cancelled')]],
  ['PROCESSING, being returned because of the payer lock', [...LOCKED, sentBack('payer_mismatch')]],
  ['PROCESSING, being returned after an operator rejected it', [...LOCKED, held(), heldRejected('operator')]],
  ['REFUNDED because of the payer lock', [...LOCKED, sentBack('payer_mismatch'), returned()]],
];

describe('requestCancel', () => {
  const wish = requestCancel(CANCELLED_AT);
  for (const [status, history] of [...ALIVE, ...HELD])
    it(`${status}: records the request once`, () => {
      given(payment, ...history)
        .when(wish)
        .then(cancelRequested(), 'requested')
        .again('requested');
    });
  it('keeps the time of the first request', () => {
    given(payment, ...OPEN, cancelRequested())
      .when(requestCancel(at('13:30:00')))
      .then('requested');
  });
  for (const [status, history] of NOT)
    it(`${status}: rejects with transaction_not_cancellable (E4)`, () =>
      given(payment, ...history)
        .when(wish)
        .rejected('transaction_not_cancellable'));
  it('rejects the request if the payment was paid after an earlier request', () => {
    given(payment, ...OPEN, cancelRequested(), settled())
      .when(wish)
      .rejected('transaction_not_cancellable');
  });
  it('throws if the payment was never created', () =>
    given(payment)
      .when(wish)
      .throws(/never created/));
});

describe('recordCancelled', () => {
  const record = recordCancelled({ returnIdOf: (id) => `return-${id}`, by: 'merchant' }, CANCELLED_AT);
  for (const [status, history] of ALIVE)
    it(`${status}: cancels the payment once`, () => {
      given(payment, ...history, cancelRequested())
        .when(record)
        .then(cancelled(), 'cancelled')
        .again('cancelled');
    });
  for (const [status, history] of HELD)
    it(`${status}: cancels the payment and returns the Pix (M5), once`, () => {
      given(payment, ...history, cancelRequested())
        .when(record)
        .then(cancelled(), heldRejected('cancelled'), 'cancelled')
        .again('cancelled');
    });
  it('keeps the first cancellation when repeated with other content', () => {
    const other = recordCancelled({ returnIdOf: () => 'other', by: 'provider' }, at('13:40:00'));
    given(payment, ...LOCKED, held(), cancelRequested(), cancelled(), heldRejected('cancelled'))
      .when(other)
      .then('cancelled');
  });
  it('does nothing without a request', () => {
    for (const [, history] of [...ALIVE, ...HELD])
      given(payment, ...history)
        .when(record)
        .then('nothing');
  });
  const meanwhile: readonly (readonly [string, readonly PaymentEvent[]])[] = [
    ['paid', [...OPEN, cancelRequested(), settled()]],
    ['expired', [...OPEN, cancelRequested(), expired()]],
    ['failed', [created(), cancelRequested(), failed()]],
    ['declined', [...CARD, cancelRequested(), refused('CREDIT_CARD', true)]],
    ['rejected by the payer lock', [...LOCKED, cancelRequested(), sentBack('payer_mismatch')]],
  ];
  for (const [name, history] of meanwhile)
    it(`does nothing if the payment was ${name} in the meantime`, () =>
      given(payment, ...history)
        .when(record)
        .then('nothing'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(record)
      .throws(/never created/));
});
