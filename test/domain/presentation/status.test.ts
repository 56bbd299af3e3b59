import { expect } from 'chai';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import {
  PUBLIC_STATUS_OF,
  PUBLIC_STATUSES,
  publicStatus,
  type TransactionStatus,
  transactionStatus,
  transactionStatusesOf,
} from '../../../domain/presentation/status.ts';
import {
  at,
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
  OTHER_REFUND_ID,
  paymentAfter,
  processing,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  refusedInstrument,
  released,
  resendRequested,
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
const APPROVED = [...CARD, settledByCard()];
const PART = { refundId: OTHER_REFUND_ID, amount: toMinor(12_000) };
const REST = { amount: toMinor(345) };

/** Each row of "Transaction statuses and their public charge status" in contract.md, with histories that lead to it. */
const TABLE: Readonly<Record<string, readonly (readonly [string, readonly PaymentEvent[]])[]>> = {
  'PENDING | Internal, being created. Rarely surfaced. | pending': [
    ['after the creation', [created()]],
    ['if one method was refused and the others are pending', [TWO[0]!, refusedInstrument('CREDIT_CARD')]],
    ['after a cancellation request before any instrument is issued', [created(), cancelRequested()]],
  ],
  'WAITING_PAYMENT | Awaiting customer action. | pending': [
    ['once the instrument is issued', OPEN],
    ['once the first of several instruments is issued', [TWO[0]!, TWO[1]!]],
    ['if one of two methods was refused', [TWO[0]!, TWO[1]!, refusedInstrument('BOLETO')]],
    ['if one of two methods was declined', [...TWO, refused('CREDIT_CARD', false)]],
    [
      'if the attempt in progress was declined and another method is left',
      [...TWO, processing(), refused('CREDIT_CARD', false)],
    ],
    ['after a cancellation request', [...OPEN, cancelRequested()]],
    ['if a wrong amount arrived', [...OPEN, sentBack('wrong_amount')]],
    ['if a wrong amount was returned', [...OPEN, sentBack('wrong_amount'), returned()]],
  ],
  'PROCESSING | Card or 3DS in flight. | processing': [
    ['while a card payment is in progress', [...CARD, processing()]],
    [
      'while a card payment is in progress and the other method is declined',
      [...TWO, processing(), refused('BOLETO', false)],
    ],
    ['while a payment is held for review', [...OPEN, held()]],
    ['while a payment is held for review after the expiry', [...OPEN, expired(), held()]],
    ['while a payment is held for review and a cancellation is requested', [...OPEN, held(), cancelRequested()]],
    ['while a payment of the wrong payer is being returned', [...OPEN, sentBack('payer_mismatch')]],
    [
      'if the provider refused to return a payment of the wrong payer',
      [...OPEN, sentBack('payer_mismatch'), returnRefused()],
    ],
    [
      'if a refused return was requested again',
      [...OPEN, sentBack('payer_mismatch'), returnRefused(), returnRetried('return-2')],
    ],
    ['while a payment that an operator rejected is being returned', [...OPEN, held(), heldRejected('operator')]],
  ],
  'PAID | Settled, non-card methods. | paid': [
    ['after a settlement by Pix', [...OPEN, settled()]],
    ['after a settlement by another method', [...TWO, settled({ method: 'BOLETO' })]],
    ['after the release of funds', [...OPEN, settled(), released()]],
    ['after an operator released the held payment', [...OPEN, held(), heldReleased(), settled()]],
    ['if a payment made in time settles after the expiry', [...OPEN, expired(), settled()]],
    ['if the payment settles after a cancellation request', [...OPEN, cancelRequested(), settled()]],
    ['if a second Pix arrived', [...OPEN, settled(), sentBack('second_payment', { providerPaymentId: 'E2' })]],
    [
      'if a second Pix was returned',
      [...OPEN, settled(), sentBack('second_payment', { providerPaymentId: 'E2' }), returned('E2')],
    ],
    ['while a refund is pending', [...OPEN, settled(), refundReserved()]],
    ['after a failed refund', [...OPEN, settled(), refundReserved(), refundReleased()]],
    ['after a partial refund', [...OPEN, settled(), refundReserved(PART), refundCompleted(PART)]],
    ['after a request to resend its webhooks', [...OPEN, settled(), resendRequested(2, 1)]],
  ],
  'APPROVED | Settled, card methods. | paid': [
    ['after a settlement by card', APPROVED],
    ['after the card payment in progress settled', [...CARD, processing(), settledByCard()]],
    ['after the release of funds', [...APPROVED, released(11_883)]],
    ['after a partial refund', [...APPROVED, refundReserved(PART), refundCompleted(PART)]],
  ],
  'REFUSED | Acquirer or issuer declined. | failed': [
    ['if the creation failed', [created(), failed()]],
    ['if the only method was declined', [...CARD, refused('CREDIT_CARD', true)]],
    ['if the last method was declined', [...TWO, refused('BOLETO', false), processing(), refused('CREDIT_CARD', true)]],
    [
      'if a payment arrived after the only method was declined',
      [...CARD, refused('CREDIT_CARD', true), sentBack('charge_ended')],
    ],
  ],
  'CANCELLED | Cancelled before completion. | cancelled': [
    ['after the cancellation', [...OPEN, cancelRequested(), cancelled()]],
    ['after a cancellation before any instrument was issued', [created(), cancelRequested(), cancelled()]],
    [
      'after a cancellation while a card payment was in progress',
      [...CARD, processing(), cancelRequested(), cancelled()],
    ],
    [
      'after a cancellation while a payment was held',
      [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled')],
    ],
    [
      'after the return of a payment that was held at the cancellation',
      [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled'), returned()],
    ],
    [
      'after a cancellation while a payment was held after the expiry',
      [...OPEN, expired(), held(), cancelRequested(), cancelled(), heldRejected('cancelled')],
    ],
    [
      'if a late Pix arrived after the cancellation',
      [...OPEN, cancelRequested(), cancelled(), sentBack('charge_ended')],
    ],
  ],
  'EXPIRED | Time window elapsed. | expired': [
    ['after the expiry', [...OPEN, expired()]],
    ['after the expiry while a card payment was in progress', [...CARD, processing(), expired(at('13:30:00'))]],
    ['if a late Pix arrived', [...OPEN, expired(), sentBack('charge_ended')]],
    ['if a late Pix was returned', [...OPEN, expired(), sentBack('charge_ended'), returned()]],
  ],
  'REFUNDED | Fully refunded. | refunded': [
    ['after a full refund', [...OPEN, settled(), refundReserved(), refundCompleted()]],
    [
      'after partial refunds of the full amount',
      [...APPROVED, refundReserved(PART), refundReserved(REST), refundCompleted(REST), refundCompleted(PART)],
    ],
    ['after the return of a payment of the wrong payer', [...OPEN, sentBack('payer_mismatch'), returned()]],
    [
      'after the return of a payment that an operator rejected',
      [...OPEN, held(), heldRejected('operator'), returned()],
    ],
  ],
  'CHARGEBACK | Issuer raised a chargeback (cards). | disputed': [
    ['after a chargeback', [...APPROVED, disputeOpened('CHARGEBACK')]],
    [
      'after a chargeback of a partly refunded payment',
      [...APPROVED, refundReserved(PART), refundCompleted(PART), disputeOpened('CHARGEBACK', 345)],
    ],
    [
      'if a full refund completes after the chargeback',
      [...APPROVED, refundReserved(), disputeOpened('CHARGEBACK', 0), refundCompleted()],
    ],
  ],
  'DISPUTE | Cardholder opened a dispute (cards). | disputed': [
    ['after a dispute was opened', [...APPROVED, disputeOpened('DISPUTE')]],
    [
      'if a partial refund completes after the dispute was opened',
      [...APPROVED, refundReserved(PART), disputeOpened('DISPUTE', 345), refundCompleted(PART)],
    ],
    [
      'if a full refund completes after the dispute was opened',
      [...APPROVED, refundReserved(), disputeOpened('DISPUTE', 0), refundCompleted()],
    ],
  ],
};

describe('transaction statuses and their public charge status in contract.md', () => {
  for (const [row, histories] of Object.entries(TABLE)) {
    const [status, , shown] = row.split(' | ') as [TransactionStatus, string, string];
    describe(row, () => {
      it('maps to the public status of the table', () => expect(PUBLIC_STATUS_OF[status]).to.equal(shown));
      for (const [name, history] of histories)
        it(`applies ${name}`, () => {
          const payment = paymentAfter(...history);
          expect([transactionStatus(payment), publicStatus(payment)]).to.deep.equal([status, shown]);
        });
    });
  }
  it('have exactly these rows', () => {
    const rows = Object.keys(TABLE).map((row) => row.split(' | ')[0]);
    expect(Object.keys(PUBLIC_STATUS_OF)).to.deep.equal(rows);
  });
  it('have exactly these public statuses', () => {
    const statuses = ['pending', 'processing', 'paid', 'failed', 'expired', 'cancelled', 'refunded', 'disputed'];
    expect([...PUBLIC_STATUSES].sort()).to.deep.equal(statuses.sort());
  });
  it('map each public status to the transaction statuses of its rows', () => {
    expect(PUBLIC_STATUSES.map((status) => [status, transactionStatusesOf(status)])).to.deep.equal([
      ['pending', ['PENDING', 'WAITING_PAYMENT']],
      ['processing', ['PROCESSING']],
      ['paid', ['PAID', 'APPROVED']],
      ['failed', ['REFUSED']],
      ['cancelled', ['CANCELLED']],
      ['expired', ['EXPIRED']],
      ['refunded', ['REFUNDED']],
      ['disputed', ['CHARGEBACK', 'DISPUTE']],
    ]);
  });
});
