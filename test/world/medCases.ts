// Sample dispute cases for tests of the domain.
import { openCase, ruleCase } from '../../domain/dispute/decisions.ts';
import { type CaseTerms, type MedCase, type MedCaseEvent, medCase, type Ruling } from '../../domain/dispute/medCase.ts';
import { type Decision, fold } from '../../domain/kernel/decider.ts';
import { toMinor } from '../../domain/kernel/money.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { ACCOUNT_ID, at, CASE_ID, PAYMENT_ID } from '../support/samples.ts';

export const OPENED_AT = at('16:00:00');

export const caseTerms = (over: Partial<CaseTerms> = {}): CaseTerms => ({
  caseId: CASE_ID,
  paymentId: PAYMENT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
  providerCaseId: 'bank-1',
  type: 'med',
  amount: toMinor(12_345),
  currency: 'BRL',
  reason: 'fraud',
  responseDeadline: null,
  amountMismatch: false,
  held: toMinor(12_345),
  openedAt: at('15:59:00'),
  ...over,
});
export const caseOpened = (over: Partial<CaseTerms> = {}): MedCaseEvent => ({
  type: 'MedCaseOpened',
  data: { ...caseTerms(over), at: OPENED_AT },
});

/** Returns the case after these events. Throws if they don't open it. */
export const caseAfter = (...events: readonly MedCaseEvent[]): MedCase => {
  const state = fold(medCase, events);
  if (state.status === 'absent') throw new Error('the case was never opened');
  return state;
};

/** Returns the case after the events of these decisions. Throws if one is rejected. */
export const casePlayed = (
  opened: Partial<CaseTerms>,
  ...decisions: readonly Decision<ReturnType<typeof medCase.evolve>, MedCaseEvent, unknown>[]
): MedCase => {
  const events: MedCaseEvent[] = [];
  for (const decide of [openCase(caseTerms(opened), OPENED_AT), ...decisions]) {
    const decided = decide(fold(medCase, events));
    if (isRejection(decided)) throw new Error(decided.message);
    events.push(...decided.events);
  }
  return caseAfter(...events);
};

export const ruledCase = (ruling: Ruling | 'withdrawn', over: Partial<CaseTerms>, when: Timestamp): MedCase =>
  casePlayed(over, ruleCase({ report: 2, ruling, review: false, at: when }, true, when));
