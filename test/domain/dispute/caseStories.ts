// Sample dispute cases in each state, and the events that lead there.
import { expect } from 'chai';
import { ruleCase } from '../../../domain/dispute/decisions.ts';
import {
  type LateReport,
  type MedCase,
  type MedCaseEvent,
  type MedCaseState,
  medCase,
} from '../../../domain/dispute/medCase.ts';
import type { Decision } from '../../../domain/kernel/decider.ts';
import { toMinor, ZERO } from '../../../domain/kernel/money.ts';
import { at } from '../../support/samples.ts';
import { caseAfter, caseOpened } from '../../world/medCases.ts';

export const AT = at('17:00:00');
export const HELD = toMinor(12_345);
export const OPEN = [caseOpened()];
export const APPEALED: readonly MedCaseEvent[] = [
  ...OPEN,
  { type: 'MedCaseAppealed', data: { reason: 'It came.', at: AT } },
];
export const AGREED = { result: 'agreed', returned: true, returnedToPayer: null } as const;
export const DISAGREED = { result: 'disagreed', returned: true, returnedToPayer: null } as const;
export const REVIEW: MedCaseEvent = {
  type: 'MedCaseReviewRequested',
  data: { ...AGREED, report: 2, ruledAt: at('16:59:00'), at: AT },
};
export const ACCEPTED: MedCaseEvent = { type: 'MedCaseAccepted', data: { announced: true, at: AT } };
export const REJECTED: MedCaseEvent = {
  type: 'MedCaseRejected',
  data: { announced: true, report: 2, returnedToPayer: HELD, ruledAt: at('16:59:00'), at: AT },
};
export const CLOSED: MedCaseEvent = {
  type: 'MedCaseClosed',
  data: {
    because: 'withdrawn',
    moneyOutcome: 'refunded_to_merchant',
    announced: true,
    report: 2,
    ruledAt: at('16:59:00'),
    at: AT,
  },
};
export const lateReport = (
  result: LateReport['result'],
  over: Partial<LateReport> = {},
): Extract<MedCaseEvent, { type: 'MedCaseLateReported' }> => {
  const share = result === 'agreed' ? HELD : ZERO;
  const said = { report: 3, result, returned: true, returnedToPayer: share, contradicts: false };
  return { type: 'MedCaseLateReported', data: { ...said, ruledAt: at('16:59:00'), at: AT, ...over } };
};
export const LATER = at('18:00:00');
/** Returns the case after these decisions. Fails the test if one of them is rejected. */
export const played = (
  history: readonly MedCaseEvent[],
  ...decisions: readonly Decision<MedCaseState, MedCaseEvent, unknown>[]
): MedCase => {
  let state: MedCaseState = caseAfter(...history);
  for (const decide of decisions) {
    const decided = decide(state);
    if ('rejected' in decided) expect.fail(decided.code);
    for (const event of decided.events) state = medCase.evolve(state, event);
  }
  return state as MedCase;
};
export const ruling = (what: Parameters<typeof ruleCase>[0]['ruling'], report = 2, review = false) =>
  ruleCase({ report, ruling: what, review, at: at('16:59:00') }, true, AT);
