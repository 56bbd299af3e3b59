// A resend repeats the messages of a transition, except `payment.status_changed` and those of payouts (rules W8, W9).
import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { messagesOf, resentMessagesOf } from '../../../domain/presentation/messages.ts';
import {
  cancelled,
  created,
  disputeOpened,
  expired,
  failed,
  held,
  heldRejected,
  issued,
  refundCompleted,
  refundReserved,
  released,
  returned,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';

type Teller = typeof messagesOf;
/** Returns the names of the messages sent for the last of these events. */
const told = (teller: Teller, ...events: PaymentEvent[]): readonly string[] => {
  const before = fold(payment, events.slice(0, -1));
  const last = events.at(-1) as PaymentEvent;
  return teller(before, last, payment.evolve(before, last)).map(({ type }) => type);
};
const OPEN = [created(), issued()];
const PAID = [...OPEN, settled()];

const RESENT: readonly (readonly [string, readonly PaymentEvent[], readonly string[]])[] = [
  ['created', OPEN, ['charge.created', 'payment.created']],
  ['settled', PAID, ['charge.paid', 'payment.completed']],
  ['failed', [created(), failed()], ['charge.failed', 'payment.failed']],
  ['expired', [...OPEN, expired()], ['charge.expired', 'payment.expired', 'payment.failed']],
  ['cancelled', [...OPEN, cancelled()], ['charge.failed', 'payment.failed']],
  [
    'cancelled while held',
    [...OPEN, held(), cancelled(), heldRejected('cancelled')],
    ['charge.failed', 'payment.failed'],
  ],
  ['refunded by cashout', [...PAID, refundReserved(), refundCompleted()], ['payment.refunded']],
  ['refund requested', [...PAID, refundReserved()], []],
  ['charged back', [...OPEN, settledByCard(), disputeOpened()], ['payment.failed']],
  ['returned to the payer', [...OPEN, sentBack('payer_mismatch'), returned()], ['payment.refunded']],
  ['created without an instrument', [created()], []],
  ['held', [...OPEN, held()], []],
  ['released', [...PAID, released()], []],
];

describe('resentMessagesOf', () => {
  for (const [name, events, types] of RESENT)
    it(`resends ${types.join(', ') || 'nothing'}: ${name}`, () => {
      expect(told(resentMessagesOf, ...events)).to.deep.equal(types);
      // A resend keeps the original order and adds nothing.
      expect(told(messagesOf, ...events).filter((type) => types.includes(type))).to.deep.equal(types);
    });
});
