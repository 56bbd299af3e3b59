// A dispute's side of the money (rules M9, Q1–Q4).
import { expect } from 'chai';
import type { MoneyOutcome } from '../../../domain/dispute/medCase.ts';
import type { CaseChange } from '../../../domain/dispute/snapshot.ts';
import { snapshotOf } from '../../../domain/dispute/snapshot.ts';
import type { MedCaseId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { openDispute, recordCaseStep } from '../../../domain/payment/dispute.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import { card, multibanco, otherIssued } from '../../support/instruments.ts';
import { casePlayed, ruledCase } from '../../support/medCases.ts';
import {
  at,
  CASE_ID,
  created,
  disputeOpened,
  disputeReport,
  expired,
  issued,
  paymentAfter,
  processing,
  refundCompleted,
  refundReleased,
  refundReserved,
  refused,
  settled,
  settledByCard,
} from '../../support/samples.ts';

const OPEN = [created(), issued()];
const PAID = [...OPEN, settled()];
const CARD = [created({ methods: ['CREDIT_CARD'] }), otherIssued(card())];
const APPROVED = [...CARD, settledByCard()];
const OTHER_CASE = '1dspt000000000000000000001' as MedCaseId;
const AT = at('16:00:00');
const nothingHeld = disputeOpened('DISPUTE', 0);
const mismatched = { ...nothingHeld, data: { ...nothingHeld.data, amountMismatch: true } } as PaymentEvent;
const half = { amount: toMinor(5_000) };

describe('openDispute (M9, Q1, Q4)', () => {
  const open = openDispute(disputeReport(), AT);
  it('holds what was paid, once', () => {
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
    it(`a ${type} of a card is shown as ${kind}`, () => {
      given(payment, ...APPROVED)
        .when(openDispute(disputeReport({ type }), AT))
        .then(disputeOpened(kind), 'opened')
        .again('known');
    });
  it('holds what is left: not what is refunded, nor what is on its way; nothing while all of it is', () => {
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
  it('the reported amount is the charge’s: held; any other: nothing is, and the status stays', () => {
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_345) }), AT))
      .then(disputeOpened('DISPUTE'), 'opened');
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_346) }), AT))
      .then(mismatched, 'opened')
      .again('known')
      .and()
      .when(openDispute(disputeReport({ caseId: OTHER_CASE }), AT))
      .rejected('charge_not_disputable');
  });

  const refusedOf: readonly (readonly [string, readonly PaymentEvent[], Parameters<typeof disputeReport>[0]?])[] = [
    ['not paid', OPEN],
    ['expired', [...OPEN, expired()]],
    ['in flight', [...CARD, processing()], { type: 'chargeback' }],
    ['declined', [...CARD, refused('CREDIT_CARD', true)], { type: 'chargeback' }],
    ['a Pix, by a chargeback', PAID, { type: 'chargeback' }],
    ['a card, by a MED', APPROVED],
    [
      'Multibanco',
      [created({ methods: ['MULTIBANCO'] }), otherIssued(multibanco()), settled({ method: 'MULTIBANCO' })],
    ],
    ['in another case', [...PAID, disputeOpened('DISPUTE')], { caseId: OTHER_CASE }],
    ['all given back', [...PAID, refundReserved(), refundCompleted()]],
  ];
  for (const [name, history, over] of refusedOf)
    it(`${name}: charge_not_disputable`, () =>
      given(payment, ...history)
        .when(openDispute(disputeReport(over), AT))
        .rejected('charge_not_disputable'));
  it('of a payment that was never created is a broken invariant', () =>
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

describe('recordCaseStep (Q3)', () => {
  const DISPUTED = [...PAID, refundReserved(half), refundCompleted(half), disputeOpened('DISPUTE', 7_345)];
  const opened = casePlayed({});
  it('what moves no money is told once', () => {
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(0, 'opened', opened, AT)))
      .then(updated(0, 'opened', opened, AT), 'recorded')
      .again('nothing');
  });
  it('the payment shows what it was told last, and when the case took it up', () => {
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
    [{ result: 'agreed', returned: true }, 'rejected', 'lost'],
    [{ result: 'disagreed', returned: true }, 'closed', 'refunded_to_merchant'],
    [{ result: 'disagreed', returned: false }, 'closed', 'closed_without_refund'],
    ['withdrawn', 'closed', 'refunded_to_merchant'],
  ] as const;
  for (const [ruling, change, moneyOutcome] of ends)
    it(`${JSON.stringify(ruling)}: ${moneyOutcome}, of what was held, once`, () => {
      const medCase = ruledCase(ruling, {}, CLOSED_AT);
      const resolved = resolvedOf(moneyOutcome, 7_345);
      const after = given(payment, ...DISPUTED, updated(0, 'opened', opened, AT))
        .when(recordCaseStep(step(1, change, medCase)))
        .then(updated(1, change, medCase), resolved, 'recorded')
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
  it('an end that was told moves nothing again, whatever is told of the case afterwards', () => {
    const medCase = ruledCase('withdrawn', {}, CLOSED_AT);
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(1, 'closed', medCase)))
      .then(updated(1, 'closed', medCase), resolvedOf('refunded_to_merchant', 7_345), 'recorded')
      .and()
      .when(recordCaseStep(step(2, 'evidence_requested', medCase)))
      .then(updated(2, 'evidence_requested', medCase), 'recorded');
  });
  it('a case of another amount that was lost keeps no later one from opening', () => {
    const terms = { amount: toMinor(12_346), amountMismatch: true };
    const lost = ruledCase({ result: 'agreed', returned: true }, terms, CLOSED_AT);
    const next = disputeOpened('DISPUTE');
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_346) }), AT))
      .then(mismatched, 'opened')
      .and()
      .when(recordCaseStep(step(1, 'rejected', lost)))
      .then(updated(1, 'rejected', lost), resolvedOf('lost', 0, 12_346), 'recorded')
      .and()
      .when(openDispute(disputeReport({ caseId: OTHER_CASE }), CLOSED_AT))
      .then({ ...next, data: { ...next.data, caseId: OTHER_CASE, at: CLOSED_AT } } as PaymentEvent, 'opened');
  });
  it('of three cases one after the other, the first and the second are known for ever', () => {
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
  it('of a case that is not the payment’s latest, and of a payment without one: nothing', () => {
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
