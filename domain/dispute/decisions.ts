// Decisions of the merchant, the bank and the platform about a case (contract.md Dispute case status; rules Q1–Q4).
import type { Decision } from '../kernel/decider.ts';
import { type Minor, most, ZERO } from '../kernel/money.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import {
  type CaseTerms,
  isUnderWay,
  type LateReport,
  type MedCase,
  type MedCaseEvent,
  type MedCaseState,
  type NotTakenReport,
  type PendingReview,
  type Ruling,
  reminderAt,
  type SettlingVerdict,
  sumOfReturns,
} from './medCase.ts';

type Deciding<Reply = 'recorded'> = Decision<MedCaseState, MedCaseEvent, Reply>;

/** Inclusive bounds of an appeal's reason, in characters. */
export const APPEAL_REASON_MIN = 5;
export const APPEAL_REASON_MAX = 2_000;

export const NO_CASE = reject('not_found', 'There is no such case.');
const NOT_OPEN = reject('case_not_open', 'This case is not open.');
export const ENDED = reject('case_not_open', 'This case has ended.');
const UNDER_REVIEW = reject('case_under_review', 'The platform is reviewing an outcome of this case.');

/** Opens the case for money that the payment already holds. No-op if it is open, or if the report was dismissed. */
export const openCase =
  (terms: CaseTerms, at: Timestamp): Deciding<'opened'> =>
  (state) => ({
    events: state.status === 'absent' && !state.isDismissed ? [{ type: 'MedCaseOpened', data: { ...terms, at } }] : [],
    reply: 'opened',
  });

/** Requests evidence from the merchant, also repeatedly. Rejects an ended case with `case_not_open`. */
export const requestEvidence =
  (at: Timestamp): Deciding =>
  (state) => {
    if (state.status === 'absent') return NO_CASE;
    if (!isUnderWay(state)) return ENDED;
    return recorded({ type: 'MedCaseEvidenceRequested', data: { at } });
  };

/** Reminds the merchant one day before the deadline. No-op if it is too early, answered, already reminded, or without a deadline. */
export const nearDeadline =
  (now: Timestamp): Deciding<'recorded' | 'nothing'> =>
  (state) => {
    const due = reminderAt(state);
    return due === null || now < due
      ? { events: [], reply: 'nothing' }
      : recorded({ type: 'MedCaseDeadlineNeared', data: { at: now } });
  };

/**
 * The merchant appeals. Checks in order: the reason (`invalid_reason`), the case (`not_found`, `case_not_open`). An appeal is possible
 * during a review. A second appeal is rejected with `case_not_open`, whatever its reason.
 */
export const appealCase =
  (reason: string, at: Timestamp): Deciding =>
  (state) => {
    if (!isAppealReason(reason))
      return reject(
        'invalid_reason',
        `reason must have ${APPEAL_REASON_MIN} to ${APPEAL_REASON_MAX} characters and must not be blank.`,
        { param: 'reason' },
      );
    if (state.status === 'absent') return NO_CASE;
    if (state.status !== 'open') return NOT_OPEN;
    return recorded({ type: 'MedCaseAppealed', data: { reason, at } });
  };

const isAppealReason = (reason: string): boolean => {
  const { length } = [...reason];
  return length >= APPEAL_REASON_MIN && length <= APPEAL_REASON_MAX && reason.trim() !== '';
};

/** The merchant accepts the case: it is lost, which is final. Rejects with `case_not_open`, then `case_under_review`. */
export const acceptCase =
  (announced: boolean, at: Timestamp): Deciding =>
  (state) => {
    if (state.status === 'absent') return NO_CASE;
    if (state.status !== 'open') return NOT_OPEN;
    if (state.review !== null) return UNDER_REVIEW;
    return recorded({ type: 'MedCaseAccepted', data: { announced, at } });
  };

/** A provider's report about an open case. `report` is its number, from 2. */
export interface BankRuling {
  readonly report: number;
  readonly ruling: Ruling | 'withdrawn';
  /** Whether the platform's operators review it first; false for withdrawals. */
  readonly review: boolean;
  /** Time that the provider reported. */
  readonly at: Timestamp;
}

/**
 * The bank ruled, or the payer withdrew. No-op if this report was already recorded. For an ended case, records the report and whether it
 * contradicts the end (Q11). Checks in order: the case (`not_found`), then `case_under_review`.
 */
export const ruleCase =
  (reported: BankRuling, announced: boolean, at: Timestamp): Deciding =>
  (state) => {
    const { report, ruling, review, at: ruledAt } = reported;
    if (state.status === 'absent') return NO_CASE;
    if (report <= state.reports) return { events: [], reply: 'recorded' };
    if (!isUnderWay(state))
      return recorded({ type: 'MedCaseLateReported', data: { ...lateReport(state, reported), at } });
    if (state.review !== null) return UNDER_REVIEW;
    if (ruling === 'withdrawn') {
      const data = {
        because: 'withdrawn',
        moneyOutcome: 'refunded_to_merchant',
        announced,
        report,
        ruledAt,
        at,
      } as const;
      return recorded({ type: 'MedCaseClosed', data });
    }
    return recorded(
      review
        ? { type: 'MedCaseReviewRequested', data: { ...ruling, report, ruledAt, at } }
        : endOf(ruling, state.held, { announced, report, ruledAt, at }),
    );
  };

const lateReport = (state: MedCase, { report, ruling, at: ruledAt }: BankRuling): LateReport => {
  const reported = ruling === 'withdrawn' ? WITHDRAWN : ruling;
  const { result, returned } = reported;
  const outcome = result === 'agreed' ? 'lost' : returned ? 'refunded_to_merchant' : 'closed_without_refund';
  const returnedToPayer = payersShare(reported, state.held);
  // Returns that were made before any ruling are parts of what it says, so it can't name less.
  const isOtherShare =
    state.reports > 1
      ? state.returnedToPayer !== null && state.returnedToPayer !== returnedToPayer
      : reported.returnedToPayer !== null && reported.returnedToPayer < sumOfReturns(state);
  const contradicts = outcome !== (state.moneyOutcome ?? state.decided) || isOtherShare;
  return { report, result, returned, returnedToPayer, contradicts, ruledAt };
};

const WITHDRAWN = { result: 'withdrawn', returned: true, returnedToPayer: null } as const;

/** Returns the payer's share of the held money according to the bank. It may exceed the held amount. */
const payersShare = ({ result, returned, returnedToPayer }: Ruling | typeof WITHDRAWN, held: Minor): Minor => {
  if (result === 'agreed') return returnedToPayer ?? held;
  return returned ? ZERO : held;
};

/** A return of the disputed Pix that the banks made. */
export interface MadeReturn {
  readonly id: string;
  readonly amount: Minor;
  /** Time that the provider reported. */
  readonly at: Timestamp;
  /** Whether the payment has nothing left that another case could take (`leavesNoCase`). */
  readonly leavesNoCase?: boolean;
}

/**
 * Records a return by the banks, which ends an open case as lost, even during a review (V10). A lost case records returns until they cover
 * its amount and that of its ruling, and all later ones if no other case can take them. A case that the merchant won records those that its
 * ruling announced. No-op if it is recorded. Replies `beyond`, and records nothing, for any other return.
 */
export const recordMoneyReturned =
  (
    { id, amount, at: returnedAt, leavesNoCase = false }: MadeReturn,
    announced: boolean,
    at: Timestamp,
  ): Deciding<'recorded' | 'beyond'> =>
  (state) => {
    if (state.status === 'absent') return NO_CASE;
    if (state.returns?.some((one) => one.id === id)) return { events: [], reply: 'recorded' };
    const returned: MedCaseEvent = { type: 'MedCaseMoneyReturned', data: { id, amount, returnedAt, at } };
    if (isUnderWay(state)) {
      const end = { announced, report: state.reports, ruledAt: returnedAt, at };
      return recorded({ type: 'MedCaseRejected', data: { ...end, returnedToPayer: amount } }, returned);
    }
    const isLost = (state.moneyOutcome ?? state.decided) !== 'refunded_to_merchant';
    const isOwed = sumOfReturns(state) < most(isLost ? state.held : ZERO, state.returnedToPayer ?? ZERO);
    const takesMore = isLost && (state.settling === 'awaited' || leavesNoCase);
    return isOwed || takesMore ? recorded(returned) : { events: [], reply: 'beyond' };
  };

/** Returns why the case can't take a ruling or withdrawal now, or null if it can. */
export const notRulable = (state: MedCaseState): Rejection | null => {
  if (state.status === 'absent') return NO_CASE;
  if (!isUnderWay(state)) return ENDED;
  return state.review === null ? null : UNDER_REVIEW;
};

const endOf = (
  ruling: Ruling,
  held: Minor,
  end: { readonly announced: boolean; readonly report: number; readonly ruledAt: Timestamp; readonly at: Timestamp },
): MedCaseEvent => {
  const { result, returned } = ruling;
  if (result === 'agreed')
    return { type: 'MedCaseRejected', data: { ...end, returnedToPayer: payersShare(ruling, held) } };
  const moneyOutcome = returned ? 'refunded_to_merchant' : 'closed_without_refund';
  return { type: 'MedCaseClosed', data: { because: 'disagreed', moneyOutcome, ...end } };
};

/** An operator approves or refuses the pending ruling. Rejects with `case_not_open` if none is pending. */
export const reviewCase =
  (approve: boolean, announced: boolean, at: Timestamp): Deciding =>
  (state) => {
    if (state.status === 'absent') return NO_CASE;
    const { review } = state;
    if (review === null) return reject('case_not_open', 'This case has no outcome to review.');
    if (!approve) return recorded({ type: 'MedCaseReviewRefused', data: { at } });
    return recorded(
      { type: 'MedCaseReviewApproved', data: { at } },
      endOf(review, state.held, endUnderReview(state, review, announced, at)),
    );
  };

const endUnderReview = (
  { reports: report }: MedCase,
  { ruledAt }: PendingReview,
  announced: boolean,
  at: Timestamp,
) => ({
  announced,
  report,
  ruledAt,
  at,
});

/** Records a report that the payment can't take. No-op if it is recorded with the same reason, or dismissed. */
export const recordNotTaken =
  (report: NotTakenReport, at: Timestamp): Deciding<'recorded' | 'nothing'> =>
  (state) => {
    const isKnown = state.status !== 'absent' || state.isDismissed || state.notTaken?.because === report.because;
    if (isKnown) return { events: [], reply: 'nothing' };
    return recorded({ type: 'MedCaseReportNotTaken', data: { ...report, at } });
  };

/** Returns why an operator can't settle the case like this, or null if it is possible. `held` applies only to cases that have not ended. */
export const notSettleable = (state: MedCaseState, verdict: SettlingVerdict['verdict']): Rejection | null => {
  if (state.status === 'absent') return NO_CASE;
  if (state.settling !== 'awaited') return NOT_AWAITED;
  return verdict === 'held' && !isUnderWay(state) ? ENDED : null;
};
export const NOT_AWAITED = reject('case_not_open', 'This case has no mismatch to settle.');

/** Settles the case as the payment recorded it. No-op if the mismatch is already settled. */
export const recordSettled =
  (data: Extract<MedCaseEvent, { type: 'MedCaseSettled' }>['data']): Deciding<'recorded' | 'nothing'> =>
  (state) => {
    if (state.status === 'absent' || state.settling !== 'awaited') return { events: [], reply: 'nothing' };
    return recorded({ type: 'MedCaseSettled', data });
  };

/** An operator dismisses a report. Rejects with `case_not_open` if no report is pending. */
export const dismissReport =
  (by: string, reason: string, at: Timestamp): Deciding =>
  (state) => {
    const dismissed = { type: 'MedCaseReportDismissed', data: { by, reason, at } } as const;
    if (state.status === 'absent') {
      if (state.notTaken === undefined) return NO_CASE;
      return state.isDismissed || !state.notTaken.isFinal ? NOT_LISTED : recorded(dismissed);
    }
    return state.contradiction === null ? NOT_LISTED : recorded(dismissed);
  };
const NOT_LISTED = reject('case_not_open', 'This case has no pending report.');

/** The sandbox’s bank withdraws a refused report, which then opens no case. No-op if the case exists. */
export const giveUpReport =
  (at: Timestamp): Deciding<'recorded' | 'opened'> =>
  (state) => {
    if (state.status !== 'absent') return { events: [], reply: 'opened' };
    if (state.isDismissed) return { events: [], reply: 'recorded' };
    return recorded({ type: 'MedCaseReportDismissed', data: { by: 'sandbox', reason: 'charge_not_disputable', at } });
  };

const recorded = (...events: readonly MedCaseEvent[]) => ({ events, reply: 'recorded' as const });
