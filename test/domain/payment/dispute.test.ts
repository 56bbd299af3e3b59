// A dispute's side of the money (rules M9, Q1–Q4).
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
    const mismatch = disputeOpened('DISPUTE', 0);
    given(payment, ...PAID)
      .when(openDispute(disputeReport({ amount: toMinor(12_346) }), AT))
      .then({ ...mismatch, data: { ...mismatch.data, amountMismatch: true } } as PaymentEvent, 'opened')
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

describe('recordCaseStep (Q3)', () => {
  const DISPUTED = [...PAID, refundReserved(half), refundCompleted(half), disputeOpened('DISPUTE', 7_345)];
  const opened = casePlayed({});
  it('what moves no money is told once', () => {
    given(payment, ...DISPUTED)
      .when(recordCaseStep(step(0, 'opened', opened, AT)))
      .then(updated(0, 'opened', opened, AT), 'recorded')
      .again('nothing');
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
      const resolved: PaymentEvent = {
        type: 'TransactionDisputeResolved',
        data: {
          caseId: CASE_ID,
          moneyOutcome,
          amount: toMinor(7_345),
          currency: 'BRL',
          reportedAmount: toMinor(12_345),
          announced: true,
          at: CLOSED_AT,
        },
      };
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
