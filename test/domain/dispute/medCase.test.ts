// A dispute case (contract.md Dispute case status; rules Q1–Q4).

import { expect } from 'chai';
import fc from 'fast-check';
import {
  acceptCase,
  appealCase,
  nearDeadline,
  openCase,
  requestEvidence,
  reviewCase,
  ruleCase,
} from '../../../domain/dispute/decisions.ts';
import { confirmEvidence } from '../../../domain/dispute/evidence.ts';
import { type MedCase, type MedCaseEvent, medCase, reminderAt } from '../../../domain/dispute/medCase.ts';
import { snapshotOf } from '../../../domain/dispute/snapshot.ts';
import type { EvidenceId } from '../../../domain/kernel/ids.ts';
import type { Rejection } from '../../../domain/kernel/rejection.ts';
import { addMillis, type Timestamp } from '../../../domain/kernel/time.ts';
import { given } from '../../support/given.ts';
import { at } from '../../support/samples.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { caseAfter, caseOpened, caseTerms, OPENED_AT } from '../../world/medCases.ts';

import {
  ACCEPTED,
  AGREED,
  APPEALED,
  AT,
  CLOSED,
  DISAGREED,
  HELD,
  LATER,
  lateReport,
  OPEN,
  played,
  REJECTED,
  REVIEW,
  ruling,
} from './caseStories.ts';

const FILE = {
  evidenceId: '00000000000000000000000mv1' as EvidenceId,
  fileName: 'recibo.png',
  fileSize: 1_234,
  mimeType: 'image/png',
  uploadedBy: 'merchant',
  sha256: 'ab'.repeat(32),
  grantedAt: OPENED_AT,
  at: AT,
} as const;

describe('a dispute case', () => {
  it('opens once and keeps its original terms', () => {
    given(medCase)
      .when(openCase(caseTerms(), OPENED_AT))
      .then(caseOpened(), 'opened')
      .again('opened')
      .and()
      .when(openCase(caseTerms({ reason: 'another' }), AT))
      .then('opened');
  });
  it('records each request for evidence while it is open or appealed', () => {
    const asked: MedCaseEvent = { type: 'MedCaseEvidenceRequested', data: { at: AT } };
    for (const history of [OPEN, APPEALED])
      given(medCase, ...history)
        .when(requestEvidence(AT))
        .then(asked, 'recorded')
        .and()
        .when(requestEvidence(LATER))
        .then({ ...asked, data: { at: LATER } }, 'recorded');
  });
  it('can be appealed once while it is open', () => {
    given(medCase, ...OPEN)
      .when(appealCase('It came.', AT))
      .then(APPEALED[1] as MedCaseEvent, 'recorded')
      .and()
      .when(appealCase('It came.', AT))
      .rejected('case_not_open');
  });
  it('requires an appeal reason of 5 to 2,000 characters', () => {
    for (const reason of ['', 'four', '     ', 'x'.repeat(2_001), '😀😀😀😀'])
      given(medCase, ...OPEN)
        .when(appealCase(reason, AT))
        .rejected('invalid_reason', 'reason');
    for (const reason of ['five!', 'x'.repeat(2_000), '😀'.repeat(2_000)])
      given(medCase, ...OPEN)
        .when(appealCase(reason, AT))
        .then({ type: 'MedCaseAppealed', data: { reason, at: AT } }, 'recorded');
  });
  it('reports an invalid appeal reason before any other problem', () => {
    given(medCase).when(appealCase('no', AT)).rejected('invalid_reason', 'reason');
    given(medCase, ...OPEN, ACCEPTED)
      .when(appealCase('no', AT))
      .rejected('invalid_reason', 'reason');
  });
  it('can be accepted once while it is open, and the acceptance is final', () => {
    given(medCase, ...OPEN)
      .when(acceptCase(true, AT))
      .then(ACCEPTED, 'recorded')
      .and()
      .when(acceptCase(true, AT))
      .rejected('case_not_open');
    given(medCase, ...APPEALED)
      .when(acceptCase(true, AT))
      .rejected('case_not_open');
  });
  for (const [name, history] of [
    ['open', OPEN],
    ['appealed', APPEALED],
  ] as const)
    it(`records a ruling while ${name}: the same report again is idempotent, and the next report is late`, () => {
      given(medCase, ...history)
        .when(ruling(AGREED))
        .then(REJECTED, 'recorded')
        .again('recorded')
        .and()
        .when(ruling('withdrawn', 3))
        .then(lateReport('withdrawn', { contradicts: true }), 'recorded')
        .again('recorded');
      given(medCase, ...history)
        .when(ruling('withdrawn'))
        .then(CLOSED, 'recorded')
        .again('recorded');
      for (const [returned, moneyOutcome] of [
        [true, 'refunded_to_merchant'],
        [false, 'closed_without_refund'],
      ] as const) {
        const closed = { ...CLOSED, data: { ...CLOSED.data, because: 'disagreed', moneyOutcome } } as MedCaseEvent;
        given(medCase, ...history)
          .when(ruling({ ...DISAGREED, returned }))
          .then(closed, 'recorded')
          .again('recorded');
      }
    });

  describe('under review', () => {
    const reviewed = given(medCase, ...OPEN, REVIEW);
    it('keeps its status and rejects acceptance and rulings, but allows an appeal', () => {
      given(medCase, ...OPEN)
        .when(ruling(AGREED, 2, true))
        .then(REVIEW, 'recorded')
        .again('recorded');
      reviewed.when(acceptCase(true, AT)).rejected('case_under_review');
      reviewed.when(ruling(DISAGREED, 3)).rejected('case_under_review');
      reviewed.when(ruling('withdrawn', 3)).rejected('case_under_review');
      reviewed.when(appealCase('It came.', AT)).then(APPEALED[1] as MedCaseEvent, 'recorded');
    });
    it('ends with the reviewed outcome when an operator approves it', () => {
      reviewed
        .when(reviewCase(true, true, LATER))
        .then(
          { type: 'MedCaseReviewApproved', data: { at: LATER } },
          {
            type: 'MedCaseRejected',
            data: { announced: true, report: 2, returnedToPayer: HELD, ruledAt: at('16:59:00'), at: LATER },
          },
          'recorded',
        )
        .and()
        .when(reviewCase(true, true, LATER))
        .rejected('case_not_open');
    });
    it('keeps its status when an operator refuses the outcome, and can be ruled again', () => {
      const refused: MedCaseEvent = { type: 'MedCaseReviewRefused', data: { at: LATER } };
      const after = reviewed
        .when(reviewCase(false, true, LATER))
        .then(refused, 'recorded')
        .and();
      after.when(reviewCase(false, true, LATER)).rejected('case_not_open');
      after.when(ruling(AGREED)).then('recorded');
      after.when(acceptCase(true, AT)).then(ACCEPTED, 'recorded');
    });
  });

  it('is rejected with not_found if it does not exist, and with case_not_open if it has ended', () => {
    const decisions = {
      evidence: requestEvidence(AT),
      appeal: appealCase('It came.', AT),
      accept: acceptCase(true, AT),
      review: reviewCase(true, true, AT),
    };
    for (const [name, decide] of Object.entries(decisions)) {
      expect((decide(medCase.initial) as Rejection).code, name).to.equal('not_found');
      for (const end of [ACCEPTED, REJECTED, CLOSED]) {
        const refused = decide(caseAfter(...OPEN, end)) as Rejection;
        expect(refused.code, `${name} after ${end.type}`).to.equal('case_not_open');
      }
    }
  });
  it('records at its end whether webhooks announce it (Q5)', () => {
    const ruled = { report: 2, review: false, at: at('16:59:00') };
    for (const announced of [true, false])
      for (const [name, history, decide] of [
        ['accepted', OPEN, acceptCase(announced, AT)],
        ['rejected', OPEN, ruleCase({ ...ruled, ruling: AGREED }, announced, AT)],
        ['disagreed', OPEN, ruleCase({ ...ruled, ruling: DISAGREED }, announced, AT)],
        ['withdrawn', OPEN, ruleCase({ ...ruled, ruling: 'withdrawn' }, announced, AT)],
        ['approved', [...OPEN, REVIEW], reviewCase(true, announced, AT)],
      ] as const) {
        const decided = decide(caseAfter(...history));
        if ('rejected' in decided) expect.fail(`${name}: ${decided.code}`);
        const after = caseAfter(...history, ...decided.events);
        expect([after.closedAt, after.announced], `${name}, ${announced}`).to.deep.equal([AT, announced]);
      }
  });
  it('shows its events in its public snapshot', () => {
    const asked: MedCaseEvent = { type: 'MedCaseEvidenceRequested', data: { at: at('16:30:00') } };
    const deadline = at('23:00:00');
    const opened = caseOpened({ responseDeadline: deadline });
    const { caseId, type, amount, currency, reason, openedAt } = caseTerms();
    expect(
      snapshotOf(
        caseAfter(
          opened,
          asked,
          APPEALED[1] as MedCaseEvent,
          { ...CLOSED, data: { ...CLOSED.data, at: LATER } } as MedCaseEvent,
        ),
      ),
    ).to.deep.equal({
      caseId,
      type,
      status: 'closed',
      amount,
      currency,
      reason,
      responseDeadline: deadline,
      evidenceRequestedAt: at('16:30:00'),
      appealReason: 'It came.',
      appealedAt: AT,
      evidenceCount: 0,
      moneyOutcome: 'refunded_to_merchant',
      openedAt,
      closedAt: LATER,
      createdAt: OPENED_AT,
      updatedAt: LATER,
    });
  });
  it('shows the ruling time that the bank reported, and none for an acceptance', () => {
    for (const [decide, ruledAt] of [
      [ruling(AGREED), at('16:59:00')],
      [ruling(DISAGREED), at('16:59:00')],
      [ruling('withdrawn'), at('16:59:00')],
      [acceptCase(true, AT), null],
    ] as const) {
      const ended = played(OPEN, decide);
      expect([ended.ruledAt, ended.closedAt]).to.deep.equal([ruledAt, AT]);
    }
    const reviewed = played([...OPEN, REVIEW], reviewCase(true, true, LATER));
    expect([reviewed.ruledAt, reviewed.closedAt]).to.deep.equal([at('16:59:00'), LATER]);
  });
  it('drops a pending review when it ends', () => {
    for (const end of [ACCEPTED, REJECTED, CLOSED]) expect(caseAfter(...OPEN, REVIEW, end).review).to.equal(null);
  });
  it('changes updated_at for requests, appeals and evidence, but not for reminders and reviews', () => {
    const updates: readonly (readonly [MedCaseEvent, Timestamp])[] = [
      [{ type: 'MedCaseEvidenceRequested', data: { at: AT } }, AT],
      [APPEALED[1] as MedCaseEvent, AT],
      [{ type: 'MedCaseEvidenceConfirmed', data: FILE }, AT],
      [{ type: 'MedCaseDeadlineNeared', data: { at: AT } }, OPENED_AT],
      [REVIEW, OPENED_AT],
    ];
    for (const [event, updatedAt] of updates)
      expect(caseAfter(...OPEN, event).updatedAt, event.type).to.equal(updatedAt);
  });
  it('sets closed_at and money_outcome at every end', () => {
    for (const [end, outcome] of [
      [ACCEPTED, 'lost'],
      [REJECTED, 'lost'],
      [CLOSED, 'refunded_to_merchant'],
    ] as const) {
      const { closedAt, moneyOutcome, updatedAt } = caseAfter(...APPEALED, end);
      expect([closedAt, moneyOutcome, updatedAt]).to.deep.equal([AT, outcome, AT]);
    }
    expect(caseAfter(...APPEALED).closedAt).to.equal(null);
  });
});

describe('the reminder of the deadline (Q2)', () => {
  const deadline = parseTimestamp('2026-11-24T16:00:00.000Z');
  const dayBefore = parseTimestamp('2026-11-23T16:00:00.000Z');
  const opened = caseOpened({ responseDeadline: deadline });
  it('is due one day before the deadline, once', () => {
    expect(reminderAt(caseAfter(opened))).to.equal(dayBefore);
    given(medCase, opened)
      .when(nearDeadline(parseTimestamp('2026-11-23T15:59:59.999Z')))
      .then('nothing');
    given(medCase, opened)
      .when(nearDeadline(dayBefore))
      .then({ type: 'MedCaseDeadlineNeared', data: { at: dayBefore } }, 'recorded')
      .again('nothing');
  });
  it('is not sent for cases that were answered, have no deadline, or opened at their deadline', () => {
    const cases: readonly (readonly MedCaseEvent[])[] = [
      [],
      OPEN,
      [opened, APPEALED[1] as MedCaseEvent],
      [opened, ACCEPTED],
      [opened, REJECTED],
      [opened, CLOSED],
      [caseOpened({ responseDeadline: OPENED_AT })],
    ];
    for (const history of cases)
      for (const now of [LATER, dayBefore, deadline])
        given(medCase, ...history)
          .when(nearDeadline(now))
          .then('nothing');
  });
  it('is due immediately if less than one day was left when the case opened', () => {
    const soon = caseOpened({ responseDeadline: addMillis(OPENED_AT, 1) });
    given(medCase, soon)
      .when(nearDeadline(OPENED_AT))
      .then({ type: 'MedCaseDeadlineNeared', data: { at: OPENED_AT } }, 'recorded')
      .again('nothing');
  });
});

describe('any sequence of decisions', () => {
  it('ends a case at most once; afterwards its snapshot never changes, and only late reports are recorded', () => {
    const decision = fc.constantFrom(
      appealCase('It came.', AT),
      acceptCase(true, AT),
      requestEvidence(AT),
      ruling(AGREED, 2),
      ruling(DISAGREED, 3),
      ruling('withdrawn', 4),
      ruling(AGREED, 5, true),
      ruleCase({ report: 6, ruling: 'withdrawn', review: false, at: AT }, true, LATER),
      reviewCase(true, true, AT),
      reviewCase(false, true, AT),
      nearDeadline(AT),
      confirmEvidence(FILE),
      confirmEvidence({ ...FILE, evidenceId: '00000000000000000000000mv2' as EvidenceId, at: LATER }),
    );
    fc.assert(
      fc.property(fc.array(decision, { maxLength: 15 }), (decisions) => {
        let state = given(medCase, ...OPEN).state;
        let ends = 0;
        for (const decide of decisions) {
          const decided = decide(state);
          if ('rejected' in decided) continue;
          const before = state;
          for (const event of decided.events) {
            state = medCase.evolve(state, event);
            if (['MedCaseAccepted', 'MedCaseRejected', 'MedCaseClosed'].includes(event.type)) ends++;
          }
          if (before.status === 'absent' || before.closedAt === null) continue;
          for (const { type } of decided.events) expect(type).to.equal('MedCaseLateReported');
          expect(snapshotOf(state as MedCase)).to.deep.equal(snapshotOf(before));
        }
        const isEnded = state.status !== 'absent' && state.moneyOutcome !== null;
        expect(ends).to.equal(isEnded ? 1 : 0);
      }),
    );
  });
});
