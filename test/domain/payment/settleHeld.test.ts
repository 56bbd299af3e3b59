// How an operator settles a return that the provider refuses permanently (M10), and confirmations that arrive after a refusal.
import { expect } from 'chai';
import type { RefundId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import { releaseHeld, returnHeld } from '../../../domain/payment/held.ts';
import { heldMoney } from '../../../domain/payment/heldMoney.ts';
import { recordReturn } from '../../../domain/payment/lifecycle.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { pendingSince } from '../../../domain/payment/pendingWork.ts';
import { journalEntry } from '../../../domain/payment/postings.ts';
import { completeRefund } from '../../../domain/payment/refund.ts';
import { recordReturnedOutside } from '../../../domain/payment/returnedOutside.ts';
import {
  recordHeldPayoutFailed,
  recordHeldPayoutPaid,
  type SettleHeld,
  settleHeld,
} from '../../../domain/payment/settleHeld.ts';
import { transactionStatus } from '../../../domain/presentation/status.ts';
import { DEFAULT_FEES } from '../../../domain/transaction/fees.ts';
import { given } from '../../support/given.ts';
import {
  at,
  created,
  END_TO_END_ID,
  held,
  heldRejected,
  heldReleased,
  incoming,
  issued,
  LOCKED_TO,
  OTHER_END_TO_END_ID,
  paymentAfter,
  REFUND_ID,
  refundReleased,
  refundReserved,
  returnRefused,
  SETTINGS,
  sentBack,
  settled,
} from '../../support/samples.ts';

const NOW = at('18:00:00');
const heldFirst = held();
const KEY = 'tesouraria@example.com';
const payoutIdOf = (pix: string, refusals: number) => `payout-${pix}-${refusals}` as RefundId;
const FIRST = payoutIdOf(END_TO_END_ID, 1);
const wish = (over: Partial<SettleHeld> = {}): SettleHeld => ({
  pixOut: KEY,
  reason: 'account closed',
  id: null,
  payoutIdOf,
  by: 'operator:ana',
  ...over,
});
const settle = (over: Partial<SettleHeld> = {}) => settleHeld(wish(over), NOW);
const writeOff = settle({ pixOut: null });

const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
const ORDER = 'return-1';
const REFUSED = [...LOCKED, sentBack('payer_mismatch'), returnRefused()];
const WRONG = [created(), issued(), sentBack('wrong_amount'), returnRefused()];

const money = { providerPaymentId: END_TO_END_ID, amount: toMinor(12_345), currency: 'BRL' };
const requested = (payoutId = FIRST): PaymentEvent => ({
  type: 'TransactionHeldPayoutRequested',
  data: {
    ...money,
    payoutId,
    destination: KEY,
    fee: toMinor(50),
    reason: 'account closed',
    by: 'operator:ana',
    at: NOW,
  },
});
const paidOut = (payoutId = FIRST, when = at('18:00:02')): PaymentEvent => ({
  type: 'TransactionHeldPayoutPaid',
  data: { ...money, payoutId, fee: toMinor(50), endToEndId: 'E-out', at: when },
});
const payoutFailed = (payoutId = FIRST): PaymentEvent => ({
  type: 'TransactionHeldPayoutFailed',
  data: { providerPaymentId: END_TO_END_ID, payoutId, reason: 'no such key', at: at('18:00:02') },
});
const writtenOff: PaymentEvent = {
  type: 'TransactionHeldWrittenOff',
  data: { ...money, reason: 'account closed', by: 'operator:ana', at: NOW },
};
const confirmedLate = (id: string, fee: number, when = at('19:00:00')): PaymentEvent => ({
  type: 'TransactionReturnConfirmedLate',
  data: { ...money, id, fee: toMinor(fee), at: when, returnId: null },
});
const refundConfirmedLate: PaymentEvent = {
  type: 'TransactionRefundConfirmedLate',
  data: {
    refundId: REFUND_ID,
    amount: toMinor(12_345),
    currency: 'BRL',
    fee: toMinor(50),
    endToEndId: 'E-x',
    at: NOW,
  },
};
const statusAfter = (...events: PaymentEvent[]) => transactionStatus(paymentAfter(...events));
const waitingAfter = (...events: PaymentEvent[]) =>
  heldMoney(paymentAfter(...events)).map(({ providerPaymentId, amount, reason }) => [
    providerPaymentId,
    amount,
    reason,
  ]);
const posted = (event: PaymentEvent) =>
  journalEntry(event)?.postings.map(({ account, amount }) => [account, amount]) ?? null;

describe('settleHeld (M10)', () => {
  it('requests a Pix-out once; the payment is PROCESSING until it is paid, and a second settlement is rejected', () => {
    const when = given(payment, ...REFUSED).when(settle());
    when.then(requested(), 'settled').and().when(settle()).rejected('held_already_settled');
    expect(statusAfter(...REFUSED, requested())).to.equal('PROCESSING');
    expect(pendingSince(paymentAfter(...REFUSED, requested()))).to.equal(NOW);
    expect(waitingAfter(...REFUSED, requested())).to.deep.equal([]);
    expect(posted(requested())).to.equal(null);
  });
  it('rejects any other decision after the settlement with held_already_settled', () => {
    for (const done of [[requested()], [requested(), paidOut()], [writtenOff]]) {
      const after = given(payment, ...REFUSED, ...done);
      after.when(settle({ reason: 'another' })).rejected('held_already_settled');
      after.when(writeOff).rejected('held_already_settled');
      const back = { returnIdOf: () => 'return-2', providerPaymentId: null, by: 'operator:bia' };
      after.when(returnHeld(back, NOW)).rejected('held_already_settled');
      const terms = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
      after.when(releaseHeld(terms, 'operator:bia', NOW)).rejected('held_already_settled');
    }
  });
  it('does not change what a release replies, if it was the settlement of another Pix', () => {
    const terms = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
    const release = releaseHeld(terms, 'operator:bia', NOW);
    // A wrong amount was written off, and the charge was paid. Its refund was confirmed late, and nobody settled that.
    const incomingOther = incoming({ providerPaymentId: OTHER_END_TO_END_ID });
    const paid = [...WRONG, writtenOff, settled({ incoming: incomingOther }), refundReserved(), refundReleased()];
    expect(waitingAfter(...paid, refundConfirmedLate)).to.deep.equal([[`rf_${REFUND_ID}`, 12_345, 'confirmed_late']]);
    given(payment, ...paid, refundConfirmedLate)
      .when(release)
      .rejected('invalid_request');
    // A held Pix was released, and a second one was written off.
    const second = sentBack('second_payment', { providerPaymentId: OTHER_END_TO_END_ID });
    const off = { ...writtenOff.data, providerPaymentId: OTHER_END_TO_END_ID };
    given(payment, ...LOCKED, held(), second, heldReleased(), settled(), { ...writtenOff, data: off } as PaymentEvent)
      .when(release)
      .then('already_released');
  });
  it('makes the payment REFUNDED when the Pix-out is paid, once, and charges its fee to the platform', () => {
    given(payment, ...REFUSED, requested())
      .when(recordHeldPayoutPaid(FIRST, 'E-out', at('18:00:02')))
      .then(paidOut(), 'recorded')
      .again('nothing');
    expect(statusAfter(...REFUSED, requested(), paidOut())).to.equal('REFUNDED');
    expect(pendingSince(paymentAfter(...REFUSED, requested(), paidOut()))).to.equal(null);
    expect(posted(paidOut())).to.deep.equal([
      ['payer_returns', -12_345],
      ['provider_clearing', 12_345],
      ['provider_fees', 50],
      ['platform_fees', -50],
    ]);
  });
  it('waits for an operator with the reason if the Pix-out is refused, and then uses another id', () => {
    given(payment, ...REFUSED, requested())
      .when(recordHeldPayoutFailed(FIRST, 'no such key', at('18:00:02')))
      .then(payoutFailed(), 'recorded')
      .again('nothing')
      .and()
      .when(settle())
      .then(requested(payoutIdOf(END_TO_END_ID, 2)), 'settled');
    const waiting = heldMoney(paymentAfter(...REFUSED, requested(), payoutFailed()));
    expect(waiting.map(({ returnRefused: why }) => why)).to.deep.equal(['no such key']);
  });
  it('writes the money off to the platform’s account, and the payment is REFUNDED at once', () => {
    given(payment, ...REFUSED)
      .when(writeOff)
      .then(writtenOff, 'settled');
    expect(statusAfter(...REFUSED, writtenOff)).to.equal('REFUNDED');
    expect(posted(writtenOff)).to.deep.equal([
      ['payer_returns', -12_345],
      ['platform_fees', 12_345],
    ]);
  });
  it('does not change the status of a payment that received a wrong amount', () => {
    for (const done of [[requested(), paidOut()], [writtenOff]]) {
      expect(statusAfter(...WRONG, ...done)).to.equal('WAITING_PAYMENT');
      expect(waitingAfter(...WRONG, ...done)).to.deep.equal([]);
    }
  });
  it('rejects with invalid_request if no return was refused', () => {
    for (const history of [
      LOCKED,
      [...LOCKED, held()],
      [...LOCKED, sentBack('payer_mismatch')],
      [...LOCKED, settled()],
    ])
      given(payment, ...history)
        .when(writeOff)
        .rejected('invalid_request');
  });
  it('requires the id of the Pix if several returns were refused', () => {
    const second = { providerPaymentId: OTHER_END_TO_END_ID };
    const two = [...WRONG, sentBack('wrong_amount', second), returnRefused(second)];
    given(payment, ...two)
      .when(writeOff)
      .rejected('invalid_request', 'providerPaymentId');
    given(payment, ...two)
      .when(settle({ pixOut: null, id: END_TO_END_ID }))
      .then(writtenOff, 'settled')
      .and()
      .when(settle({ id: END_TO_END_ID }))
      .rejected('held_already_settled');
    given(payment, ...two)
      .when(settle({ id: 'E-none' }))
      .rejected('invalid_request');
  });
  it('rejects a Pix-out of euros', () => {
    const card = [created({ currency: 'EUR' }), ...WRONG.slice(1)];
    given(payment, ...card)
      .when(settle())
      .rejected('invalid_request', 'pixOut');
  });
});

describe('a confirmation after a refusal', () => {
  it('of a return whose money still waits is recorded as the return', () => {
    const data = { ...money, at: NOW, returnId: null };
    given(payment, ...REFUSED)
      .when(recordReturn(END_TO_END_ID, ORDER, NOW))
      .then({ type: 'TransactionPaymentReturned', data }, 'recorded')
      .again('nothing');
  });
  for (const [name, done] of [
    ['is being paid out', [requested()]],
    ['was paid out', [requested(), paidOut()]],
    ['was written off', [writtenOff]],
  ] as const)
    it(`of a return whose money ${name} is recorded and listed once, and can be written off once`, () => {
      const late = confirmedLate(END_TO_END_ID, 0);
      given(payment, ...REFUSED, ...done)
        .when(recordReturn(END_TO_END_ID, ORDER, at('19:00:00')))
        .then(late, 'recorded')
        .again('nothing')
        .and()
        .when(settle({ pixOut: null }))
        .then(
          {
            type: 'TransactionLateConfirmationWrittenOff',
            data: {
              id: END_TO_END_ID,
              amount: toMinor(12_345),
              currency: 'BRL',
              reason: 'account closed',
              by: 'operator:ana',
              at: NOW,
            },
          },
          'settled',
        )
        .and()
        .when(settle())
        .rejected('held_already_settled');
      expect(waitingAfter(...REFUSED, ...done, late)).to.deep.equal([[END_TO_END_ID, 12_345, 'confirmed_late']]);
      given(payment, ...REFUSED, ...done, late)
        .when(settle())
        .rejected('invalid_request', 'pixOut');
    });
  it('of a return whose Pix-out is refused afterwards allows only a write-off', () => {
    const late = confirmedLate(END_TO_END_ID, 0);
    const held = [...LOCKED, heldFirst, heldRejected('operator'), returnRefused(), requested(), late, payoutFailed()];
    const after = given(payment, ...held);
    after.when(settle()).rejected('invalid_request', 'pixOut');
    const back = { returnIdOf: () => 'return-2', providerPaymentId: null, by: 'operator:bia' };
    after.when(returnHeld(back, NOW)).rejected('invalid_request');
    const terms = { fees: DEFAULT_FEES, holdDays: SETTINGS.holdDays };
    after.when(releaseHeld(terms, 'operator:bia', NOW)).rejected('invalid_request');
    const { data } = writtenOff as { data: object };
    const { providerPaymentId: id, ...rest } = data as { providerPaymentId: string };
    const off = { type: 'TransactionLateConfirmationWrittenOff', data: { id, ...rest } } as PaymentEvent;
    after.when(writeOff).then(writtenOff, off, 'settled');
  });
  it('of a return after the Pix was credited is recorded as late', () => {
    const credited = [...LOCKED, held(), heldRejected('operator'), returnRefused(), settled()];
    given(payment, ...credited)
      .when(recordReturn(END_TO_END_ID, `return-${END_TO_END_ID}`, at('19:00:00')))
      .then(confirmedLate(END_TO_END_ID, 0), 'recorded')
      .again('nothing');
  });
  it('of a Pix that was never to be returned is ignored', () => {
    given(payment, ...LOCKED, settled())
      .when(recordReturn(END_TO_END_ID, ORDER, NOW))
      .then('nothing');
    given(payment, ...LOCKED, held())
      .when(recordReturn(END_TO_END_ID, ORDER, NOW))
      .then('nothing');
  });
  it('of a Pix-out whose money still waits is recorded as paid, and nothing waits any longer', () => {
    given(payment, ...REFUSED, requested(), payoutFailed())
      .when(recordHeldPayoutPaid(FIRST, 'E-out', at('18:00:02')))
      .then(paidOut(), 'recorded')
      .again('nothing');
    expect(waitingAfter(...REFUSED, requested(), payoutFailed(), paidOut())).to.deep.equal([]);
  });
  for (const [part, owed] of [
    [3_000, 9_345],
    [12_345, null],
  ] as const)
    it(`of a failed Pix-out is posted in full, although ${part} was returned outside Quita since`, () => {
      const made = { providerPaymentId: END_TO_END_ID, id: 'D1', returnId: null, nature: 'ordinary' } as const;
      const back = recordReturnedOutside({ ...made, amount: toMinor(part) }, null, at('18:10:00'));
      const before = [...WRONG, requested(), payoutFailed()];
      const decided = back(paymentAfter(...before));
      if (isRejection(decided)) throw new Error(decided.message);
      const history = [...before, ...decided.events];
      const when = at('19:00:00');
      const paid: PaymentEvent = {
        type: 'TransactionHeldPayoutPaid',
        data: {
          ...money,
          amount: toMinor(owed ?? 0),
          payoutId: FIRST,
          fee: toMinor(50),
          endToEndId: 'E-out',
          at: when,
        },
      };
      const late: PaymentEvent = {
        type: 'TransactionReturnConfirmedLate',
        data: {
          ...money,
          amount: toMinor(part),
          id: FIRST,
          fee: toMinor(owed === null ? 50 : 0),
          at: when,
          returnId: null,
        },
      };
      const events = owed === null ? [late] : [paid, late];
      given(payment, ...history)
        .when(recordHeldPayoutPaid(FIRST, 'E-out', when))
        .then(...events, 'recorded')
        .again('nothing');
      expect(waitingAfter(...history, ...events)).to.deep.equal([[FIRST, part, 'confirmed_late']]);
      const clearing = [...history, ...events].flatMap((event) => posted(event) ?? []);
      const sum = clearing.reduce(
        (all, [account, amount]) => (account === 'provider_clearing' ? all + Number(amount) : all),
        0,
      );
      expect(sum).to.equal(part); // The bank got 12,345, and paid 12,345 and the part.
    });
  it('of a Pix-out after another one was requested is recorded once with its fee', () => {
    const again = requested(payoutIdOf(END_TO_END_ID, 2));
    given(payment, ...REFUSED, requested(), payoutFailed(), again)
      .when(recordHeldPayoutPaid(FIRST, 'E-out', at('19:00:00')))
      .then(confirmedLate(FIRST, 50), 'recorded')
      .again('nothing');
    expect(posted(confirmedLate(FIRST, 50))).to.deep.equal([
      ['payer_returns', -12_345],
      ['provider_clearing', 12_345],
      ['provider_fees', 50],
      ['platform_fees', -50],
    ]);
  });
  it('of a failed refund is recorded and listed once, does not charge the merchant and can be written off', () => {
    const failed = [...LOCKED, settled(), refundReserved(), refundReleased()];
    const late = refundConfirmedLate;
    given(payment, ...failed)
      .when(completeRefund(REFUND_ID, 'E-x', NOW))
      .then(late, 'recorded')
      .again('nothing');
    expect(statusAfter(...failed, late)).to.equal('PAID');
    expect(posted(late)?.map(([account]) => account)).to.not.include('merchant_available');
    expect(waitingAfter(...failed, late)).to.deep.equal([[`rf_${REFUND_ID}`, 12_345, 'confirmed_late']]);
    const data = { id: `rf_${REFUND_ID}`, amount: toMinor(12_345), currency: 'BRL', reason: 'account closed' };
    const off: PaymentEvent = {
      type: 'TransactionLateConfirmationWrittenOff',
      data: { ...data, by: 'operator:ana', at: NOW },
    };
    given(payment, ...failed, late)
      .when(writeOff)
      .then(off, 'settled')
      .and()
      .when(writeOff)
      .rejected('held_already_settled');
    expect(posted(off)).to.deep.equal([
      ['payer_returns', 12_345],
      ['platform_fees', -12_345],
    ]);
    expect(waitingAfter(...failed, late, off)).to.deep.equal([]);
  });
});
