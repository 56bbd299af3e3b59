// Which returns by the banks a dispute case records (rule V10).
import { NO_CASE, recordMoneyReturned } from '../../../domain/dispute/decisions.ts';
import { type MedCaseEvent, medCase } from '../../../domain/dispute/medCase.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import { given } from '../../support/given.ts';
import { caseOpened } from '../../world/medCases.ts';
import { ACCEPTED, AT, CLOSED, HELD, LATER, OPEN, REJECTED, REVIEW } from './caseStories.ts';

const returned = (id: string, amount: number): MedCaseEvent => ({
  type: 'MedCaseMoneyReturned',
  data: { id, amount: toMinor(amount), returnedAt: AT, at: LATER },
});
const record = (id: string, amount: number, leavesNoCase?: boolean) =>
  recordMoneyReturned(
    { id, amount: toMinor(amount), at: AT, ...(leavesNoCase !== undefined && { leavesNoCase }) },
    true,
    LATER,
  );
const LOST: readonly (readonly [string, readonly MedCaseEvent[]])[] = [
  ['that the merchant accepted', [...OPEN, ACCEPTED]],
  ['that the bank ruled', [...OPEN, REJECTED]],
];
const MISMATCH = [caseOpened({ amountMismatch: true, held: toMinor(0) })];
const SETTLED_AS_NOTHING: MedCaseEvent = {
  type: 'MedCaseSettled',
  data: { verdict: 'nothing', amount: toMinor(0), by: 'operator:ana', reason: 'x', announced: true, at: LATER },
};

describe('a return by the banks', () => {
  it('is rejected without a case', () => {
    given(medCase).when(record('d1', 1)).rejected(NO_CASE.code);
  });
  it('ends an open case as lost, also during a review', () => {
    for (const [story, report] of [
      [OPEN, 1],
      [[...OPEN, REVIEW], 2],
    ] as const)
      given(medCase, ...story)
        .when(record('d1', 7))
        .then(
          {
            type: 'MedCaseRejected',
            data: { announced: true, report, ruledAt: AT, at: LATER, returnedToPayer: toMinor(7) },
          },
          returned('d1', 7),
          'recorded',
        );
  });

  for (const [which, lost] of LOST) {
    it(`is recorded by a lost case ${which} until its amount is covered`, () => {
      given(medCase, ...lost)
        .when(record('d1', HELD))
        .then(returned('d1', HELD), 'recorded');
      given(medCase, ...lost, returned('d1', HELD - 1))
        .when(record('d2', 1))
        .then(returned('d2', 1), 'recorded');
      given(medCase, ...lost, returned('d1', HELD))
        .when(record('d2', 1))
        .then('beyond');
    });
    it(`is recorded by a lost case ${which} if no other case can take it`, () => {
      given(medCase, ...lost, returned('d1', HELD))
        .when(record('d2', 1, true))
        .then(returned('d2', 1), 'recorded');
    });
    it(`is recorded once by a lost case ${which}`, () => {
      given(medCase, ...lost, returned('d1', 1))
        .when(record('d1', 1))
        .then('recorded');
      given(medCase, ...lost, returned('d1', HELD))
        .when(record('d1', 7, true))
        .then('recorded');
    });
  }

  it('is recorded by a lost case up to the amount of its ruling if that is larger', () => {
    const ruled: MedCaseEvent = {
      ...REJECTED,
      data: { ...REJECTED.data, returnedToPayer: toMinor(HELD + 5) } as never,
    };
    const less: MedCaseEvent = { ...REJECTED, data: { ...REJECTED.data, returnedToPayer: toMinor(5) } as never };
    given(medCase, ...OPEN, ruled, returned('d1', HELD + 4))
      .when(record('d2', 1))
      .then(returned('d2', 1), 'recorded');
    given(medCase, ...OPEN, ruled, returned('d1', HELD + 5))
      .when(record('d2', 1))
      .then('beyond');
    given(medCase, ...OPEN, less, returned('d1', HELD - 1))
      .when(record('d2', 1))
      .then(returned('d2', 1), 'recorded');
  });
  it('is recorded by a mismatch that was lost and is not settled yet', () => {
    given(medCase, ...MISMATCH, ACCEPTED, returned('d1', HELD))
      .when(record('d2', 1))
      .then(returned('d2', 1), 'recorded');
  });

  it('is beyond a case that the merchant won, also if no other case can take it', () => {
    for (const leavesNoCase of [false, true])
      given(medCase, ...OPEN, CLOSED)
        .when(record('d1', 1, leavesNoCase))
        .then('beyond');
    given(medCase, ...MISMATCH, CLOSED)
      .when(record('d1', 1))
      .then('beyond');
  });
  it('is recorded by a case that the merchant won as far as its ruling announced it', () => {
    const ruled: MedCaseEvent = { ...REJECTED, data: { ...REJECTED.data, returnedToPayer: toMinor(7) } as never };
    const story = [...MISMATCH, ruled, SETTLED_AS_NOTHING];
    given(medCase, ...story, returned('d1', 6))
      .when(record('d2', 1))
      .then(returned('d2', 1), 'recorded');
    given(medCase, ...story, returned('d1', 7))
      .when(record('d2', 1, true))
      .then('beyond');
  });
});
