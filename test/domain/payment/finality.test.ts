// When a payment ended. Its data is kept for years after that (rule L3).
import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { RefundId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { endOf } from '../../../domain/payment/finality.ts';
import { assertExists, type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import {
  at,
  created,
  END_TO_END_ID,
  expired,
  issued,
  OTHER_END_TO_END_ID,
  returned,
  returnedOutside,
  returnRefused,
  sentBack,
  settled,
} from '../../support/samples.ts';

const LATE = at('21:00:00');
const OPEN = [created(), issued()];
const UNRETURNED = [...OPEN, expired(), sentBack('charge_ended'), returnRefused()];
const second = { providerPaymentId: OTHER_END_TO_END_ID };
const moved = { providerPaymentId: END_TO_END_ID, amount: toMinor(12_345), currency: 'BRL', at: LATE };
const payout = { payoutId: '0'.repeat(26) as RefundId, fee: toMinor(0) };

/** Histories whose last event moves money, by what it does. */
const HISTORIES: { readonly [what: string]: readonly PaymentEvent[] } = {
  'a second Pix is returned': [
    ...[...OPEN, settled(), sentBack('second_payment', second)],
    returned(OTHER_END_TO_END_ID, 12_345, LATE),
  ],
  'a Pix that came too late is returned': [
    ...[...OPEN, expired(), sentBack('charge_ended')],
    returned(END_TO_END_ID, 12_345, LATE),
  ],
  'a part is returned in the bank’s own app': [...OPEN, settled(), returnedOutside(5, LATE)],
  'a Pix-out in place of a refused return is paid': [
    ...UNRETURNED,
    { type: 'TransactionHeldPayoutPaid', data: { ...moved, ...payout, endToEndId: null } },
  ],
  'a refused return is written off': [
    ...UNRETURNED,
    { type: 'TransactionHeldWrittenOff', data: { ...moved, reason: 'unreachable', by: 'operator:ana' } },
  ],
};

describe('the end of a payment (L3)', () => {
  for (const [what, events] of Object.entries(HISTORIES))
    it(`is the time when ${what}`, () => {
      expect(endOf(assertExists(fold(payment, events)))).to.equal(LATE);
    });
});
