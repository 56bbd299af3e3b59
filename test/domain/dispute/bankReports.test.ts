// Bank reports that don’t fit the state of a dispute case: too late, too early, or for a different amount (rules Q1, Q10, Q11).
import { expect } from 'chai';
import {
  dismissReport,
  giveUpReport,
  notSettleable,
  openCase,
  recordMoneyReturned,
  recordNotTaken,
  recordSettled,
  reviewCase,
} from '../../../domain/dispute/decisions.ts';
import { type LateReport, type MedCase, type MedCaseEvent, medCase } from '../../../domain/dispute/medCase.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { given } from '../../support/given.ts';
import { caseAfter, caseOpened, caseTerms, OPENED_AT } from '../../world/medCases.ts';

import {
  ACCEPTED,
  AGREED,
  AT,
  CLOSED,
  DISAGREED,
  HELD,
  LATER,
  lateReport,
  OPEN,
  played,
  REJECTED,
  ruling,
} from './caseStories.ts';

describe('a bank report on an ended case (Q11)', () => {
  const [accepted, rejected, withdrawn] = [[ACCEPTED], [REJECTED], [CLOSED]];
  const kept: MedCaseEvent = {
    type: 'MedCaseClosed',
    data: { ...CLOSED.data, because: 'disagreed', moneyOutcome: 'closed_without_refund' } as never,
  };
  const got = (amount: number) => ({ ...AGREED, returnedToPayer: toMinor(amount) });
  const stories: readonly (readonly [
    string,
    readonly MedCaseEvent[],
    Parameters<typeof ruling>[0],
    Partial<LateReport> & { readonly result: LateReport['result'] },
  ])[] = [
    [
      'accepted, then agreed with a returned amount',
      accepted,
      got(7),
      { result: 'agreed', returnedToPayer: toMinor(7) },
    ],
    ['accepted, then agreed without an amount', accepted, AGREED, { result: 'agreed' }],
    ['accepted, then withdrawn', accepted, 'withdrawn', { result: 'withdrawn', contradicts: true }],
    ['lost, then the same ruling', rejected, AGREED, { result: 'agreed' }],
    [
      'lost, then another returned amount',
      rejected,
      got(7),
      { result: 'agreed', returnedToPayer: toMinor(7), contradicts: true },
    ],
    ['lost, then won', rejected, DISAGREED, { result: 'disagreed', contradicts: true }],
    ['won, then lost', withdrawn, AGREED, { result: 'agreed', contradicts: true }],
    [
      'won, then lost with nothing returned',
      withdrawn,
      got(0),
      { result: 'agreed', returnedToPayer: ZERO, contradicts: true },
    ],
    ['won, then another ruling for the merchant', withdrawn, DISAGREED, { result: 'disagreed' }],
    [
      'closed without refund, then the same ruling',
      [kept],
      { ...DISAGREED, returned: false },
      { result: 'disagreed', returned: false, returnedToPayer: HELD },
    ],
    ['closed without refund, then lost', [kept], AGREED, { result: 'agreed', contradicts: true }],
  ];
  for (const [name, end, said, { result, ...over }] of stories)
    it(`${name}: ${over.contradicts ? 'contradicts' : 'fits'} the outcome and is recorded once`, () => {
      const after = given(medCase, ...OPEN, ...end)
        .when(ruling(said, 3))
        .then(lateReport(result, over), 'recorded')
        .again('recorded')
        .and();
      const { status, moneyOutcome, contradiction } = after.state as MedCase;
      expect([status, moneyOutcome]).to.deep.equal([
        caseAfter(...OPEN, ...end).status,
        caseAfter(...OPEN, ...end).moneyOutcome,
      ]);
      expect(contradiction?.report ?? null).to.equal(over.contradicts ? 3 : null);
    });
  it('a ruling returns its amount to the payer, or the whole hold if it has none, also after a review', () => {
    for (const [said, share] of [
      [AGREED, HELD],
      [got(7), toMinor(7)],
      [got(0), ZERO],
    ] as const) {
      const ruled = caseAfter(...OPEN, {
        ...REJECTED,
        data: { ...REJECTED.data, returnedToPayer: share },
      } as MedCaseEvent);
      const direct = played(OPEN, ruling(said));
      expect(direct).to.deep.equal(ruled);
      const reviewed = played(OPEN, ruling(said, 2, true), reviewCase(true, true, AT));
      expect(reviewed.returnedToPayer).to.equal(share);
    }
  });
  it('a first ruling contradicts if it names less than the banks returned, but not without an amount or with more', () => {
    const made = recordMoneyReturned({ id: 'd', amount: toMinor(8), at: AT }, true, AT);
    for (const [said, contradicts] of [
      [got(7), true],
      [got(8), false],
      [got(9), false],
      [AGREED, false],
    ] as const) {
      const { contradiction, returnedToPayer } = played(OPEN, made, ruling(said));
      expect([contradiction !== null, returnedToPayer]).to.deep.equal([
        contradicts,
        contradicts ? 8 : (said.returnedToPayer ?? HELD),
      ]);
    }
  });
  it('a contradiction can be dismissed once; without one there is nothing to dismiss', () => {
    const dismissed: MedCaseEvent = {
      type: 'MedCaseReportDismissed',
      data: { by: 'operator:ana', reason: 'x', at: LATER },
    };
    const dismiss = dismissReport('operator:ana', 'x', LATER);
    given(medCase, ...OPEN, REJECTED, lateReport('withdrawn', { contradicts: true }))
      .when(dismiss)
      .then(dismissed, 'recorded')
      .and()
      .when(dismiss)
      .rejected('case_not_open');
    for (const history of [OPEN, [...OPEN, REJECTED], [...OPEN, REJECTED, lateReport('agreed')]])
      given(medCase, ...history)
        .when(dismiss)
        .rejected('case_not_open');
    given(medCase).when(dismiss).rejected('not_found');
  });
});

describe('a report that the payment can’t accept yet or ever (Q10)', () => {
  const { caseId, paymentId, accountId, mode, providerCaseId, amount, currency } = caseTerms();
  const report = { caseId, paymentId, accountId, mode, providerCaseId, amount, currency };
  const owed = { ...report, because: 'case_open', isFinal: false } as const;
  const never = { ...report, because: 'lost_before', isFinal: true } as const;
  const dismiss = dismissReport('operator:ana', 'x', LATER);
  it('is recorded once per reason, and the case can still open later', () => {
    given(medCase)
      .when(recordNotTaken(owed, AT))
      .then({ type: 'MedCaseReportNotTaken', data: { ...owed, at: AT } }, 'recorded')
      .again('nothing')
      .and()
      .when(openCase(caseTerms(), OPENED_AT))
      .then(caseOpened(), 'opened');
  });
  it('can be dismissed once if it is final, and then opens no case', () => {
    const history: readonly MedCaseEvent[] = [{ type: 'MedCaseReportNotTaken', data: { ...never, at: AT } }];
    const after = given(medCase, ...history)
      .when(dismiss)
      .then({ type: 'MedCaseReportDismissed', data: { by: 'operator:ana', reason: 'x', at: LATER } }, 'recorded')
      .and();
    after.when(dismiss).rejected('case_not_open');
    after.when(recordNotTaken(owed, LATER)).then('nothing');
    after.when(openCase(caseTerms(), OPENED_AT)).then('opened');
  });
  it('can’t be dismissed while it is pending, and is ignored if the case exists', () => {
    given(medCase, { type: 'MedCaseReportNotTaken', data: { ...owed, at: AT } })
      .when(dismiss)
      .rejected('case_not_open');
    given(medCase, ...OPEN)
      .when(recordNotTaken(owed, AT))
      .then('nothing');
  });
  it('can be abandoned by the sandbox’s bank before or after it is recorded, but not once the case is open', () => {
    const givenUp = { by: 'sandbox', reason: 'charge_not_disputable', at: LATER };
    for (const history of [[], [{ type: 'MedCaseReportNotTaken', data: { ...owed, at: AT } } as const]])
      given(medCase, ...history)
        .when(giveUpReport(LATER))
        .then({ type: 'MedCaseReportDismissed', data: givenUp }, 'recorded')
        .again('recorded');
    given(medCase, ...OPEN)
      .when(giveUpReport(LATER))
      .then('opened');
  });
});

describe('an amount mismatch (Q1)', () => {
  const MISMATCH = [caseOpened({ amountMismatch: true, held: ZERO })];
  const settledAs = (verdict: 'held' | 'lost' | 'nothing', announced = true) => ({
    verdict,
    amount: toMinor(verdict === 'nothing' ? 0 : 500),
    by: 'operator:ana',
    reason: 'x',
    announced,
    at: LATER,
  });
  const MISMATCH_REJECTED = { ...REJECTED, data: { ...REJECTED.data, returnedToPayer: ZERO } } as MedCaseEvent;
  const ENDS = [[], [ACCEPTED], [MISMATCH_REJECTED], [CLOSED]];
  it('has no money outcome until it is settled, however the case ended', () => {
    for (const end of ENDS) expect(caseAfter(...MISMATCH, ...end).moneyOutcome).to.equal(null);
  });
  for (const [verdict, status, outcome] of [
    ['lost', 'rejected', 'lost'],
    ['nothing', 'closed', 'refunded_to_merchant'],
  ] as const)
    it(`is ${status} when settled as ${verdict}, however the case ended before, and only once`, () => {
      for (const end of ENDS) {
        const after = given(medCase, ...MISMATCH, ...end)
          .when(recordSettled(settledAs(verdict)))
          .then({ type: 'MedCaseSettled', data: settledAs(verdict) }, 'recorded')
          .again('nothing')
          .and();
        const { closedAt, review, ...medCaseAfter } = after.state as MedCase;
        expect([medCaseAfter.status, medCaseAfter.moneyOutcome, review]).to.deep.equal([status, outcome, null]);
        expect([closedAt, medCaseAfter.updatedAt]).to.deep.equal([end.length === 0 ? LATER : AT, LATER]);
        expect(notSettleable(after.state, 'nothing')).to.include({ code: 'case_not_open' });
      }
    });
  it('becomes an ordinary case with that hold when settled as held', () => {
    const held = played(MISMATCH, recordSettled(settledAs('held')));
    expect(held).to.include({ status: 'open', moneyOutcome: null, held: 500, settling: 'held' });
    const lost = played(MISMATCH, recordSettled(settledAs('held')), ruling(AGREED));
    expect(lost).to.include({ status: 'rejected', moneyOutcome: 'lost', returnedToPayer: 500 });
  });
  it('ends as the bank ruled if the bank rules just before it is settled as held', () => {
    const state = played([...MISMATCH, CLOSED], recordSettled(settledAs('held')));
    expect(state).to.include({ status: 'closed', moneyOutcome: 'refunded_to_merchant', held: 500 });
  });
  it('can be settled as held only before it ends; an ordinary case can’t be settled', () => {
    for (const end of ENDS)
      for (const verdict of ['held', 'lost', 'nothing'] as const)
        expect(notSettleable(caseAfter(...MISMATCH, ...end), verdict)?.code ?? null, verdict).to.equal(
          verdict === 'held' && end.length > 0 ? 'case_not_open' : null,
        );
    expect(notSettleable(caseAfter(...OPEN), 'lost')).to.include({ code: 'case_not_open' });
    expect(notSettleable(medCase.initial, 'lost')).to.include({ code: 'not_found' });
  });
});
