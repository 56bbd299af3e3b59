// The reasons for which a case, or a report without a case, needs an operator, and their start times (rules Q1, Q3, Q10, Q11).
import type { Timestamp } from '../kernel/time.ts';
import type { MedCaseState } from './medCase.ts';

export const CASE_WAITS_BECAUSE = ['review', 'amount_mismatch', 'report_not_taken', 'report_contradicts'] as const;
export type CaseWaitsBecause = (typeof CASE_WAITS_BECAUSE)[number];

/** The reasons, each with its start time. Empty if it needs no operator. */
export type Waits = readonly (readonly [because: CaseWaitsBecause, since: Timestamp])[];

export const waitsOf = (state: MedCaseState): Waits => {
  if (state.status === 'absent') {
    const { notTaken, isDismissed } = state;
    return notTaken?.isFinal && !isDismissed ? [['report_not_taken', notTaken.at]] : [];
  }
  const { review, settling, contradiction, createdAt } = state;
  return [
    ...(review === null ? [] : [['review', review.since] as const]),
    ...(settling === 'awaited' ? [['amount_mismatch', createdAt] as const] : []),
    ...(contradiction === null ? [] : [['report_contradicts', contradiction.at] as const]),
  ];
};
