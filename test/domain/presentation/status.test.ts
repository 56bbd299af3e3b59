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
    ['created', [created()]],
    ['one method refused, the others not yet known', [TWO[0]!, refusedInstrument('CREDIT_CARD')]],
    ['wanted cancelled before there was an instrument', [created(), cancelRequested()]],
  ],
  'WAITING_PAYMENT | Awaiting customer action. | pending': [
    ['issued', OPEN],
    ['the first of several methods issued', [TWO[0]!, TWO[1]!]],
    ['one of two methods refused', [TWO[0]!, TWO[1]!, refusedInstrument('BOLETO')]],
    ['one of two methods declined', [...TWO, refused('CREDIT_CARD', false)]],
    ['the one in flight declined, another is left', [...TWO, processing(), refused('CREDIT_CARD', false)]],
    ['wanted cancelled', [...OPEN, cancelRequested()]],
    ['wrong amount came', [...OPEN, sentBack('wrong_amount')]],
    ['wrong amount went back', [...OPEN, sentBack('wrong_amount'), returned()]],
  ],
  'PROCESSING | Card or 3DS in flight. | processing': [
    ['a card in flight', [...CARD, processing()]],
    ['a card in flight, the other method declined', [...TWO, processing(), refused('BOLETO', false)]],
    ['held for review', [...OPEN, held()]],
    ['held for review, heard of after the expiry', [...OPEN, expired(), held()]],
    ['held for review, wanted cancelled', [...OPEN, held(), cancelRequested()]],
    ['going back by the payer lock', [...OPEN, sentBack('payer_mismatch')]],
    ['going back by the payer lock, refused by the provider', [...OPEN, sentBack('payer_mismatch'), returnRefused()]],
    ['refused and asked for again', [...OPEN, sentBack('payer_mismatch'), returnRefused(), returnRetried('return-2')]],
    ['going back by an operator', [...OPEN, held(), heldRejected('operator')]],
  ],
  'PAID | Settled, non-card methods. | paid': [
    ['settled by Pix', [...OPEN, settled()]],
    ['settled by another method', [...TWO, settled({ method: 'BOLETO' })]],
    ['released', [...OPEN, settled(), released()]],
    ['let pass by an operator', [...OPEN, held(), heldReleased(), settled()]],
    ['expired, one paid in time heard of late', [...OPEN, expired(), settled()]],
    ['wanted cancelled, paid first', [...OPEN, cancelRequested(), settled()]],
    ['second Pix came', [...OPEN, settled(), sentBack('second_payment', { providerPaymentId: 'E2' })]],
    [
      'second Pix went back',
      [...OPEN, settled(), sentBack('second_payment', { providerPaymentId: 'E2' }), returned('E2')],
    ],
    ['refund on its way', [...OPEN, settled(), refundReserved()]],
    ['refund failed', [...OPEN, settled(), refundReserved(), refundReleased()]],
    ['partly refunded', [...OPEN, settled(), refundReserved(PART), refundCompleted(PART)]],
    ['webhooks sent again', [...OPEN, settled(), resendRequested(2, 1)]],
  ],
  'APPROVED | Settled, card methods. | paid': [
    ['settled by card', APPROVED],
    ['settled by card that was in flight', [...CARD, processing(), settledByCard()]],
    ['released', [...APPROVED, released(11_883)]],
    ['partly refunded', [...APPROVED, refundReserved(PART), refundCompleted(PART)]],
  ],
  'REFUSED | Acquirer or issuer declined. | failed': [
    ['refused at the creation', [created(), failed()]],
    ['the only method declined', [...CARD, refused('CREDIT_CARD', true)]],
    ['the last method declined', [...TWO, refused('BOLETO', false), processing(), refused('CREDIT_CARD', true)]],
    ['declined, paid all the same', [...CARD, refused('CREDIT_CARD', true), sentBack('charge_ended')]],
  ],
  'CANCELLED | Cancelled before completion. | cancelled': [
    ['cancelled', [...OPEN, cancelRequested(), cancelled()]],
    ['cancelled before there was an instrument', [created(), cancelRequested(), cancelled()]],
    ['cancelled while in flight', [...CARD, processing(), cancelRequested(), cancelled()]],
    ['cancelled while held', [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled')]],
    [
      'cancelled while held, gone back',
      [...OPEN, held(), cancelRequested(), cancelled(), heldRejected('cancelled'), returned()],
    ],
    [
      'cancelled while held, heard of after the expiry',
      [...OPEN, expired(), held(), cancelRequested(), cancelled(), heldRejected('cancelled')],
    ],
    ['cancelled, late Pix came', [...OPEN, cancelRequested(), cancelled(), sentBack('charge_ended')]],
  ],
  'EXPIRED | Time window elapsed. | expired': [
    ['expired', [...OPEN, expired()]],
    ['expired while in flight', [...CARD, processing(), expired(at('13:30:00'))]],
    ['late Pix came', [...OPEN, expired(), sentBack('charge_ended')]],
    ['late Pix went back', [...OPEN, expired(), sentBack('charge_ended'), returned()]],
  ],
  'REFUNDED | Fully refunded. | refunded': [
    ['refunded at once', [...OPEN, settled(), refundReserved(), refundCompleted()]],
    [
      'refunded in parts',
      [...APPROVED, refundReserved(PART), refundReserved(REST), refundCompleted(REST), refundCompleted(PART)],
    ],
    ['returned by the payer lock', [...OPEN, sentBack('payer_mismatch'), returned()]],
    ['returned by an operator', [...OPEN, held(), heldRejected('operator'), returned()]],
  ],
  'CHARGEBACK | Issuer raised a chargeback (cards). | disputed': [
    ['charged back', [...APPROVED, disputeOpened('CHARGEBACK')]],
    [
      'charged back after a part was refunded',
      [...APPROVED, refundReserved(PART), refundCompleted(PART), disputeOpened('CHARGEBACK', 345)],
    ],
    [
      'charged back while all of it was on its way back, which it reached',
      [...APPROVED, refundReserved(), disputeOpened('CHARGEBACK', 0), refundCompleted()],
    ],
  ],
  'DISPUTE | Cardholder opened a dispute (cards). | disputed': [
    ['disputed', [...APPROVED, disputeOpened('DISPUTE')]],
    [
      'disputed while a part is on its way back',
      [...APPROVED, refundReserved(PART), disputeOpened('DISPUTE', 345), refundCompleted(PART)],
    ],
    [
      'disputed while all of it was on its way back, which it reached',
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
        it(name, () => {
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
