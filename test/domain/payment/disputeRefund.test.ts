// What can be refunded while a dispute with a mismatched amount waits for an operator (rule Q1).
import { expect } from 'chai';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { openDispute, settleDispute } from '../../../domain/payment/dispute.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { reserveRefund } from '../../../domain/payment/refund.ts';
import {
  at,
  CASE_ID,
  created,
  disputeReport,
  issued,
  settled as paid,
  paymentAfter,
  REFUND_ID,
} from '../../support/samples.ts';

const AT = at('16:00:00');
const PAID = [created(), issued(), paid()];
const eventsOf = (
  decided: ReturnType<ReturnType<typeof openDispute>> | ReturnType<ReturnType<typeof settleDispute>>,
) => (isRejection(decided) ? expect.fail(decided.code) : decided.events);
const mismatch = (reported: number): PaymentEvent =>
  eventsOf(openDispute(disputeReport({ amount: toMinor(reported) }), AT)(paymentAfter(...PAID)))[0] as PaymentEvent;
const settled = (verdict: 'held' | 'nothing', amount: number): PaymentEvent => {
  const how = { caseId: CASE_ID, verdict, amount: toMinor(amount), reason: 'x', by: 'operator:ana', announced: true };
  return eventsOf(settleDispute(how, AT)(paymentAfter(...PAID, mismatch(5_000))))[0] as PaymentEvent;
};

describe('a refund during an unsettled amount mismatch (Q1)', () => {
  const wish = (amount: number | null, name = 'r'): Parameters<typeof reserveRefund>[0] => ({
    refundId: REFUND_ID,
    amount: amount === null ? null : toMinor(amount),
    reason: null,
    strategy: 'devolution',
    passFeeToTenant: false,
    destinationKey: null,
    paysOut: true,
    allowedDestinations: null,
    fingerprintUnder: () => name,
    fingerprintVersion: 1,
  });
  const code = (history: readonly PaymentEvent[], amount: number | null) => {
    const decided = reserveRefund(wish(amount), AT)(paymentAfter(...history));
    return isRejection(decided) ? decided.code : 'reserved';
  };
  it('must leave at least the reported amount; after a settlement as nothing the full amount is refundable again', () => {
    const open = [...PAID, mismatch(5_000)];
    expect([code(open, 7_345), code(open, 7_346), code(open, null)]).to.deep.equal([
      'reserved',
      'charge_disputed',
      'charge_disputed',
    ]);
    expect(code(open, 12_346)).to.equal('refund_amount_exceeds_remaining');
    expect(code([...PAID, mismatch(12_346)], 1)).to.equal('charge_disputed');
    expect(code([...open, settled('nothing', 0)], null)).to.equal('reserved');
    expect(code([...open, settled('held', 1)], 1)).to.equal('charge_disputed');
  });
});
