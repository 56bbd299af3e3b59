// How a dispute affects a payment and its money (rules M9, Q1–Q4).
import { expect } from 'chai';
import type { MoneyOutcome } from '../../../domain/dispute/medCase.ts';
import type { CaseChange } from '../../../domain/dispute/snapshot.ts';
import { snapshotOf } from '../../../domain/dispute/snapshot.ts';
import type { MedCaseId } from '../../../domain/kernel/ids.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { notTaken, openDispute, recordCaseStep, settleDispute } from '../../../domain/payment/dispute.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { publicStatus } from '../../../domain/presentation/status.ts';
import { given } from '../../support/given.ts';
import {
  at,
  CASE_ID,
  cancelled,
  cancelRequested,
  created,
  disputeOpened,
  disputeReport,
  expired,
  held,
  issued,
  LOCKED_TO,
  paymentAfter,
  processing,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  returned,
  returnedOutside,
  sentBack,
  settled,
  settledByCard,
} from '../../support/samples.ts';
import { card, multibanco, otherIssued } from '../../world/instruments.ts';
import { casePlayed, ruledCase } from '../../world/medCases.ts';

const OPEN = [created(), issued()];
const PAID = [...OPEN, settled()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const APPROVED = [...CARD, settledByCard()];
const OTHER_CASE = '1dspt000000000000000000001' as MedCaseId;
const AT = at('16:00:00');
const nothingHeld = disputeOpened('DISPUTE', 0);
const mismatched = (reported: number) =>
  ({
    ...nothingHeld,
    data: { ...nothingHeld.data, amountMismatch: true, reportedAmount: toMinor(reported) },
  }) as PaymentEvent;
const half = { amount: toMinor(5_000) };

describe('openDispute (M9, Q1, Q4)', () => {
  const open = openDispute(disputeReport(), AT);
  it('holds the paid amount, once', () => {
    given(payment, ...PAID)
      .when(open)
      .then(disputeOpened('DISPUTE'), 'opened')
      .again('known');
  });
  for (const [type, kind] of [
    ['chargeback', 'CHARGEBACK'],
    ['dispute', 'DISPUTE'],
    ['fraud', 'DISPUTE'],
  ] as const)
    it(`shows a ${type} of a card payment as ${kind}`, () => {
      given(payment, ...APPROVED)
        .when(openDispute(disputeReport({ type }), AT))
        .then(disputeOpened(kind), 'opened')
        .again('known');
    });
  it('holds only what is neither refunded nor reserved for a refund', () => {
    const held = (amount: number) => disputeOpened('DISPUTE', amount);
    given(payment, ...PAID, refundReserved(half), refundCompleted(half))
      .when(open)
      .then(held(7_345), 'opened');
    given(payment, ...PAID, refundReserved(half))
      .when(open)
      .then(held(7_345), 'opened');
    given(payment, ...PAID, refundReserved(half), refundReleased(half))
      .when(open)
      .then(held(12_345), 'opened');
    given(payment, ...PAID, refundReserved())
      .when(open)
      .then(held(0), 'opened')
      .again('known');
  });
  it('holds the refundable rest if exactly that amount is reported, and nothing for other partial amounts', () => {
    const part = disputeOpened('DISPUTE', 7_345);
    const rest = { ...part, data: { ...part.data, reportedAmount: toMinor(7_345) } } as PaymentEvent;
    for (const history of [[refundReserved(half), refundCompleted(half)], [refundReserved(half)]])
      given(payment, ...PAID, ...history)
        .when(openDispute(disputeReport({ amount: toMinor(7_345) }), AT))
        .then(rest, 'opened');
    for (const amount of [5_000, 7_344, 7_346])
      given(payment, ...PAID, refundReserved(half))
        .when(openDispute(disputeReport({ amount: toMinor(amount) }), AT))
        .then(mismatched(amount), 'opened');
  });
  it('holds the charge amount if that is reported; for any other amount it holds nothing and blocks further cases', () => {
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_345) }), AT))
      .then(disputeOpened('DISPUTE'), 'opened');
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_346) }), AT))
      .then(mismatched(12_346), 'opened')
      .again('known')
      .and()
      .when(openDispute(disputeReport({ caseId: OTHER_CASE }), AT))
      .rejected('charge_not_disputable');
  });

  const refusedOf: readonly (readonly [string, readonly PaymentEvent[], Parameters<typeof disputeReport>[0]?])[] = [
    ['not paid', OPEN],
    ['expired', [...OPEN, expired()]],
    ['a card payment in progress', [...CARD, processing()], { type: 'chargeback' }],
    ['declined', [...CARD, refused('CREDIT_CARD', true)], { type: 'chargeback' }],
    ['a chargeback of a Pix', PAID, { type: 'chargeback' }],
    ['a MED of a card payment', APPROVED],
    [
      'a Multibanco payment',
      [created({ methods: ['MULTIBANCO'] }), otherIssued(multibanco()), settled({ method: 'MULTIBANCO' })],
    ],
    ['another case is open', [...PAID, disputeOpened('DISPUTE')], { caseId: OTHER_CASE }],
    ['fully refunded', [...PAID, refundReserved(), refundCompleted()]],
  ];
  for (const [name, history, over] of refusedOf)
    it(`rejects with charge_not_disputable: ${name}`, () =>
      given(payment, ...history)
        .when(openDispute(disputeReport(over), AT))
        .rejected('charge_not_disputable'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(open)
      .throws(/never created/));
});

const CLOSED_AT = at('18:00:00');
const step = (revision: number, change: CaseChange, medCase: ReturnType<typeof casePlayed>, when = CLOSED_AT) => ({
  revision,
  change,
  medCase,
  at: when,
});
const updated = (
  revision: number,
  change: CaseChange,
  medCase: ReturnType<typeof casePlayed>,
  when = CLOSED_AT,
): PaymentEvent => ({
  type: 'TransactionDisputeUpdated',
  data: {
    revision,
    change,
    medCase: snapshotOf(medCase),
    ending: medCase.ending,
    ruledAt: medCase.ruledAt,
    announced: medCase.announced,
    at: when,
  },
});

const resolvedOf = (moneyOutcome: MoneyOutcome, held: number, reported = 12_345, caseId = CASE_ID): PaymentEvent => ({
  type: 'TransactionDisputeResolved',
  data: {
    caseId,
    moneyOutcome,
    amount: toMinor(held),
    currency: 'BRL',
    reportedAmount: toMinor(reported),
    announced: true,
    at: CLOSED_AT,
  },
});

const disputeReturned = (amount: number): PaymentEvent => ({
  type: 'TransactionDisputeReturned',
  data: { caseId: CASE_ID, amount: toMinor(amount), currency: 'BRL', at: CLOSED_AT },
});
const SETTLING = { caseId: CASE_ID, reason: 'x', by: 'operator:ana', announced: true };
const disputeSettled = (settling: Parameters<typeof settleDispute>[0]): PaymentEvent => ({
  type: 'TransactionDisputeSettled',
  data: { ...settling, currency: 'BRL', at: CLOSED_AT },
});

describe('settleDispute (Q1)', () => {
  const settle = (verdict: 'held' | 'lost' | 'nothing', amount: number, caseId = CASE_ID) => ({
    ...SETTLING,
    verdict,
    amount: toMinor(amount),
    caseId,
  });
  const HALF_LEFT = [...PAID, refundReserved(half), refundCompleted(half), mismatched(9_000)];
  for (const [verdict, amount] of [
    ['held', 7_345],
    ['held', 1],
    ['lost', 7_345],
    ['nothing', 0],
  ] as const)
    it(`settles once as ${verdict} ${amount}, within the refundable rest`, () => {
      const settling = settle(verdict, amount);
      given(payment, ...HALF_LEFT)
        .when(settleDispute(settling, CLOSED_AT))
        .then(disputeSettled(settling), 'settled')
        .and()
        .when(settleDispute(settling, CLOSED_AT))
        .rejected('case_not_open');
    });
  it('rejects more than the refundable rest and names the verdict as the field', () => {
    for (const verdict of ['held', 'lost'] as const)
      given(payment, ...HALF_LEFT)
        .when(settleDispute(settle(verdict, 7_346), CLOSED_AT))
        .rejected('invalid_amount', verdict);
  });
  it('rejects another case, a case without a mismatch and a payment without a case with case_not_open', () => {
    for (const [history, caseId] of [
      [HALF_LEFT, OTHER_CASE],
      [[...PAID, disputeOpened('DISPUTE')], CASE_ID],
      [PAID, CASE_ID],
      [OPEN, CASE_ID],
    ] as const)
      given(payment, ...history)
        .when(settleDispute(settle('lost', 1, caseId), CLOSED_AT))
        .rejected('case_not_open');
  });
  it('settles an ended case as lost or nothing, but not as held', () => {
    const ended = { ...casePlayed({ amountMismatch: true, held: ZERO }), ending: 'agreed' as const };
    const settlingThen = (verdict: 'held' | 'lost' | 'nothing', amount: number) =>
      given(payment, ...HALF_LEFT, updated(1, 'rejected', ended)).when(
        settleDispute(settle(verdict, amount), CLOSED_AT),
      );
    settlingThen('held', 1).rejected('case_not_open');
    settlingThen('lost', 1).then(disputeSettled(settle('lost', 1)), 'settled');
    settlingThen('nothing', 0).then(disputeSettled(settle('nothing', 0)), 'settled');
  });
  it('makes the payment disputed when settled as held or lost, but not as nothing', () => {
    const statusAfter = (...events: readonly PaymentEvent[]) => publicStatus(paymentAfter(...HALF_LEFT, ...events));
    expect(statusAfter()).to.equal('paid');
    for (const verdict of ['held', 'lost'] as const)
      expect(statusAfter(disputeSettled(settle(verdict, 1))), verdict).to.equal('disputed');
    expect(statusAfter(disputeSettled(settle('nothing', 0)))).to.equal('paid');
  });
  it('moves no money when a case settled as lost ends, and releases the hold when one settled as held is won', () => {
    const medCase = casePlayed({ amount: toMinor(9_000), amountMismatch: true, held: ZERO });
    for (const [verdict, outcome, moved] of [
      ['lost', 'lost', 0],
      ['held', 'refunded_to_merchant', 500],
    ] as const) {
      const told = { ...medCase, moneyOutcome: outcome };
      given(payment, ...HALF_LEFT, disputeSettled(settle(verdict, 500)))
        .when(recordCaseStep(step(1, 'settled', told)))
        .then(updated(1, 'settled', told), resolvedOf(outcome, moved, 9_000), 'recorded')
        .again('nothing');
    }
  });
  it('records the amount that the bank returned to the payer once', () => {
    const told = { ...casePlayed({ amountMismatch: true, held: ZERO }), returnedToPayer: toMinor(3_000) };
    given(payment, ...HALF_LEFT)
      .when(recordCaseStep(step(1, 'rejected', told)))
      .then(updated(1, 'rejected', told), disputeReturned(3_000), 'recorded')
      .and()
      .when(recordCaseStep(step(2, 'reported', told)))
      .then(updated(2, 'reported', told), 'recorded');
  });
});

describe('notTaken: why a payment can’t be disputed (Q10)', () => {
  const lost = {
    ...disputeOpened('DISPUTE'),
    data: { ...disputeOpened('DISPUTE').data, caseId: OTHER_CASE },
  } as PaymentEvent;
  const LOCKED = [created({ expectedPayerTaxId: LOCKED_TO }), issued()];
  const reasons: readonly (readonly [string, readonly PaymentEvent[], string, boolean])[] = [
    ['not paid', OPEN, 'not_paid', false],
    ['cancelled', [...OPEN, cancelRequested(), cancelled()], 'not_paid', true],
    ['held for review', [...LOCKED, held()], 'held_for_review', false],
    ['being returned', [...LOCKED, sentBack('payer_mismatch')], 'being_returned', false],
    ['returned', [...LOCKED, sentBack('payer_mismatch'), returned()], 'returned', true],
    ['declined', [...CARD, refused('CREDIT_CARD', true)], 'not_paid', true],
    ['a card payment', APPROVED, 'other_method', true],
    ['a case is open', [...PAID, disputeOpened('DISPUTE')], 'case_open', false],
    ['a mismatch is not settled', [...PAID, mismatched(5)], 'mismatch_not_settled', false],
    ['an earlier case was lost', [...PAID, lost, resolvedOf('lost', 12_345, 12_345, OTHER_CASE)], 'lost_before', true],
    ['fully refunded', [...PAID, refundReserved(), refundCompleted()], 'refunded', true],
    [
      'fully refunded, partly by a return outside Quita',
      [...PAID, returnedOutside(7_345), refundReserved(half), refundCompleted(half)],
      'refunded',
      true,
    ],
  ];
  for (const [name, history, because, isFinal] of reasons)
    it(`returns ${because}, ${isFinal ? 'final' : 'not final'}: ${name}`, () =>
      expect(notTaken(paymentAfter(...history), 'med')).to.deep.equal({ because, isFinal }));
  it('returns null for a paid Pix', () => expect(notTaken(paymentAfter(...PAID), 'med')).to.equal(null));
});

describe('recordCaseStep (Q3)', () => {
  const DISPUTED = [...PAID, refundReserved(half), refundCompleted(half), disputeOpened('DISPUTE', 7_345)];
  const opened = casePlayed({});
  it('records a step that moves no money once', () => {
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(0, 'opened', opened, AT)))
      .then(updated(0, 'opened', opened, AT), 'recorded')
      .again('nothing');
  });
  it('stores the latest recorded step and its time in the payment', () => {
    const medCase = ruledCase('withdrawn', {}, CLOSED_AT);
    const disputeOf = (...events: readonly PaymentEvent[]) => {
      const { transaction } = paymentAfter(...DISPUTED, ...events);
      return transaction.status === 'settled' ? transaction.dispute : null;
    };
    expect(disputeOf()).to.include({ revision: -1, lastEventAt: AT, ending: null, moneyOutcome: null });
    expect(disputeOf(updated(1, 'closed', medCase))).to.include({
      revision: 1,
      lastEventAt: CLOSED_AT,
      ending: 'withdrawn',
      ruledAt: CLOSED_AT,
      moneyOutcome: null,
    });
  });
  const ends = [
    [{ result: 'agreed', returned: true, returnedToPayer: null }, 'rejected', 'lost'],
    [{ result: 'disagreed', returned: true, returnedToPayer: null }, 'closed', 'refunded_to_merchant'],
    [{ result: 'disagreed', returned: false, returnedToPayer: null }, 'closed', 'closed_without_refund'],
    ['withdrawn', 'closed', 'refunded_to_merchant'],
  ] as const;
  for (const [ruling, change, moneyOutcome] of ends)
    it(`resolves the hold as ${moneyOutcome} after ${JSON.stringify(ruling)}, once`, () => {
      const medCase = ruledCase(ruling, { held: toMinor(7_345) }, CLOSED_AT);
      // The bank gave the payer whatever does not return to the merchant.
      const moved = [
        resolvedOf(moneyOutcome, 7_345),
        ...(moneyOutcome === 'refunded_to_merchant' ? [] : [disputeReturned(7_345)]),
      ] as const;
      const after = given(payment, ...DISPUTED, updated(0, 'opened', opened, AT))
        .when(recordCaseStep(step(1, change, medCase)))
        .then(updated(1, change, medCase), ...moved, 'recorded')
        .again('nothing')
        .and();
      const again = after.when(openDispute(disputeReport({ caseId: OTHER_CASE }), CLOSED_AT));
      if (moneyOutcome !== 'refunded_to_merchant') again.rejected('charge_not_disputable');
      else {
        const next = disputeOpened('DISPUTE', 7_345);
        again
          .then({ ...next, data: { ...next.data, caseId: OTHER_CASE, at: CLOSED_AT } } as PaymentEvent, 'opened')
          .again('known')
          .and()
          .when(openDispute(disputeReport(), CLOSED_AT))
          .then('known');
      }
    });
  it('moves no money again in later steps of a case that has ended', () => {
    const medCase = ruledCase('withdrawn', {}, CLOSED_AT);
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(1, 'closed', medCase)))
      .then(updated(1, 'closed', medCase), resolvedOf('refunded_to_merchant', 7_345), 'recorded')
      .and()
      .when(recordCaseStep(step(2, 'evidence_requested', medCase)))
      .then(updated(2, 'evidence_requested', medCase), 'recorded');
  });
  it('rejects new cases after a mismatch until its settlement is recorded', () => {
    const terms = { amount: toMinor(12_346), amountMismatch: true, held: ZERO };
    const lost = ruledCase({ result: 'agreed', returned: true, returnedToPayer: null }, terms, CLOSED_AT);
    const other = openDispute(disputeReport({ caseId: OTHER_CASE }), CLOSED_AT);
    const settling = { ...SETTLING, verdict: 'nothing', amount: ZERO } as const;
    const told = { ...lost, status: 'closed', moneyOutcome: 'refunded_to_merchant' } as const;
    const next = disputeOpened('DISPUTE');
    const ended = given(payment, ...PAID, mismatched(12_346))
      .when(recordCaseStep(step(1, 'rejected', lost)))
      .then(updated(1, 'rejected', lost), 'recorded')
      .and();
    ended.when(other).rejected('charge_not_disputable');
    const settled = ended.when(settleDispute(settling, CLOSED_AT)).then(disputeSettled(settling), 'settled').and();
    settled.when(other).rejected('charge_not_disputable');
    settled
      .when(recordCaseStep(step(2, 'settled', told)))
      .then(updated(2, 'settled', told), resolvedOf('refunded_to_merchant', 0, 12_346), 'recorded')
      .and()
      .when(other)
      .then({ ...next, data: { ...next.data, caseId: OTHER_CASE, at: CLOSED_AT } } as PaymentEvent, 'opened');
  });
  it('still knows the first and second of three consecutive cases', () => {
    const ids = [CASE_ID, OTHER_CASE, '1dspt000000000000000000002' as MedCaseId];
    const history: PaymentEvent[] = [...PAID];
    for (const caseId of ids) {
      const opened = disputeOpened('DISPUTE');
      history.push({ ...opened, data: { ...opened.data, caseId } } as PaymentEvent);
      history.push(resolvedOf('refunded_to_merchant', 12_345, 12_345, caseId));
    }
    for (const caseId of ids)
      given(payment, ...history)
        .when(openDispute(disputeReport({ caseId }), CLOSED_AT))
        .then('known');
  });
  it('ignores steps of a case that is not the payment’s latest, and of payments without a case', () => {
    const other = casePlayed({ caseId: OTHER_CASE });
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(0, 'opened', other)))
      .then('nothing');
    given(payment, ...PAID)
      .when(recordCaseStep(step(0, 'opened', opened)))
      .then('nothing');
    given(payment, ...OPEN)
      .when(recordCaseStep(step(0, 'opened', opened)))
      .then('nothing');
  });
});
