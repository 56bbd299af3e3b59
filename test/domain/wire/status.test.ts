import { expect } from 'chai';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import {
  PUBLIC_STATUS_OF,
  publicStatus,
  type TransactionStatus,
  transactionStatus,
} from '../../../domain/wire/status.ts';
import {
  created,
  expired,
  failed,
  held,
  issued,
  paymentAfter,
  released,
  returned,
  sentBack,
  settled,
} from '../../support/samples.ts';

const OPEN = [created(), issued()];
/** interface.md: what a history shows on the payment routes and on the charge routes. */
const SHOWN: readonly (readonly [string, readonly PaymentEvent[], TransactionStatus, string])[] = [
  ['created', [created()], 'PENDING', 'pending'],
  ['issued', OPEN, 'WAITING_PAYMENT', 'pending'],
  ['settled by Pix', [...OPEN, settled()], 'PAID', 'paid'],
  ['settled by card', [...OPEN, settled({ method: 'CREDIT_CARD' })], 'APPROVED', 'paid'],
  ['settled by another method', [...OPEN, settled({ method: 'BOLETO' })], 'PAID', 'paid'],
  ['released', [...OPEN, settled(), released()], 'PAID', 'paid'],
  ['failed', [created(), failed()], 'REFUSED', 'failed'],
  ['expired', [...OPEN, expired()], 'EXPIRED', 'expired'],
  ['held for review', [...OPEN, held()], 'PROCESSING', 'processing'],
  ['going back by the payer lock', [...OPEN, sentBack('payer_mismatch')], 'PROCESSING', 'processing'],
  ['returned by the payer lock', [...OPEN, sentBack('payer_mismatch'), returned()], 'REFUNDED', 'refunded'],
  ['open, wrong amount came', [...OPEN, sentBack('wrong_amount')], 'WAITING_PAYMENT', 'pending'],
  ['open, wrong amount went back', [...OPEN, sentBack('wrong_amount'), returned()], 'WAITING_PAYMENT', 'pending'],
  ['expired, late Pix came', [...OPEN, expired(), sentBack('charge_ended')], 'EXPIRED', 'expired'],
  ['expired, one paid in time heard of late', [...OPEN, expired(), settled()], 'PAID', 'paid'],
  ['settled, second Pix came', [...OPEN, settled(), sentBack('second_payment', { endToEndId: 'E2' })], 'PAID', 'paid'],
];

describe('statuses', () => {
  it('follow the table of the interface: all eleven', () => {
    expect(PUBLIC_STATUS_OF).to.deep.equal({
      PENDING: 'pending',
      WAITING_PAYMENT: 'pending',
      PROCESSING: 'processing',
      PAID: 'paid',
      APPROVED: 'paid',
      REFUSED: 'failed',
      CANCELLED: 'cancelled',
      EXPIRED: 'expired',
      REFUNDED: 'refunded',
      CHARGEBACK: 'disputed',
      DISPUTE: 'disputed',
    });
  });
  for (const [name, history, status, shown] of SHOWN)
    it(`${name}: ${status}, ${shown}`, () => {
      const payment = paymentAfter(...history);
      expect([transactionStatus(payment), publicStatus(payment)]).to.deep.equal([status, shown]);
    });
});
