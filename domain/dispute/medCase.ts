// A dispute case: the bank's allegation, the merchant's answers, and the outcome. The payment's stream opens the case, records each of its
// changes, and moves the money (ADR 0011).
import { type Decider, type Decision, type Fact, ignore } from '../kernel/decider.ts';
import type { EvidenceId, MedCaseId, PaymentId, Tenant } from '../kernel/ids.ts';
import { add, type Minor, most, ZERO } from '../kernel/money.ts';
import { ERASED } from '../kernel/serde.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';

/** `med` disputes a Pix payment; the others dispute card payments. */
export const CASE_TYPES = ['med', 'chargeback', 'dispute', 'fraud'] as const;
export type CaseType = (typeof CASE_TYPES)[number];

export const CASE_STATUSES = ['open', 'appealed', 'accepted', 'rejected', 'closed'] as const;
export type CaseStatus = (typeof CASE_STATUSES)[number];

export const DISPUTE_METHODS = ['scam', 'unauthorized', 'coercion', 'invasion', 'other'] as const;
/** The payer's allegation. */
export type DisputeMethod = (typeof DISPUTE_METHODS)[number];

/** Final destination of the disputed money. */
export const MONEY_OUTCOMES = ['refunded_to_merchant', 'closed_without_refund', 'lost'] as const;
export type MoneyOutcome = (typeof MONEY_OUTCOMES)[number];

/** `agreed`: the payer won. `returned` applies to `disagreed`: whether the merchant got its money back. */
export interface Ruling {
  readonly result: 'agreed' | 'disagreed';
  readonly returned: boolean;
  /** Applies to `agreed`: the amount that the payer got; null for the whole hold (Q11). */
  readonly returnedToPayer: Minor | null;
}

/** An operator's decision about a mismatch: hold `amount`, count it as lost, or release it (`amount` is then 0). */
export interface SettlingVerdict {
  readonly verdict: 'held' | 'lost' | 'nothing';
  readonly amount: Minor;
}

/** A bank report that arrived after the case had ended. */
export interface LateReport {
  /** The number of the provider's report. */
  readonly report: number;
  readonly result: 'agreed' | 'disagreed' | 'withdrawn';
  readonly returned: boolean;
  readonly returnedToPayer: Minor;
  readonly contradicts: boolean;
  readonly ruledAt: Timestamp;
}

/** Reasons for which a payment refuses a dispute. Those of the first list may be temporary; the others are final (Q10). */
export const OWED_BECAUSE = [
  'not_paid',
  'held_for_review',
  'being_returned',
  'case_open',
  'mismatch_not_settled',
] as const;
export const NEVER_BECAUSE = [
  'not_paid',
  'other_method',
  'returned',
  'refunded',
  'lost_before',
  'exceeds_rest',
] as const;
export type NeverBecause = (typeof NEVER_BECAUSE)[number];
export type NotTakenBecause = (typeof OWED_BECAUSE)[number] | (typeof NEVER_BECAUSE)[number];

/** A dispute that the bank reported and that the payment refused. */
export interface NotTakenReport extends Tenant {
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
  readonly providerCaseId: string;
  readonly amount: Minor;
  readonly currency: string;
  readonly because: NotTakenBecause;
  readonly isFinal: boolean;
}

/** Terms of a case, fixed when it opens. */
export interface CaseTerms extends Tenant {
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
  readonly providerCaseId: string;
  readonly type: CaseType;
  /** As the provider reported it; may differ from the charge's amount. */
  readonly amount: Minor;
  readonly currency: string;
  readonly reason: string | null;
  /** null if the provider doesn't know it. */
  readonly responseDeadline: Timestamp | null;
  /** Whether the amount differs from both the charge's and its refundable remainder. No money moves until an operator settles it (Q1). */
  readonly amountMismatch: boolean;
  /** Amount that the payment holds for the case; 0 for a mismatch. */
  readonly held: Minor;
  /** Time that the provider reported. */
  readonly openedAt: Timestamp;
}

/** A confirmed file. `at` is the time of confirmation. */
export interface Evidence {
  readonly evidenceId: EvidenceId;
  readonly fileName: string;
  /** In bytes, from 1. */
  readonly fileSize: number;
  readonly mimeType: string;
  readonly uploadedBy: 'merchant' | 'partner' | 'platform';
  /** SHA-256 of the file, 64 hex digits. */
  readonly sha256: string;
  /** Time of the upload grant. */
  readonly grantedAt: Timestamp;
  readonly at: Timestamp;
}

export type MedCaseOpened = Fact<'MedCaseOpened', CaseTerms & { readonly at: Timestamp }>;
/** The platform requested evidence from the merchant; may be repeated. */
export type MedCaseEvidenceRequested = Fact<'MedCaseEvidenceRequested', { readonly at: Timestamp }>;
/** One day remains to answer, and the merchant has not answered yet. */
export type MedCaseDeadlineNeared = Fact<'MedCaseDeadlineNeared', { readonly at: Timestamp }>;
/** The merchant's file is uploaded, complete and of its declared type. */
export type MedCaseEvidenceConfirmed = Fact<'MedCaseEvidenceConfirmed', Evidence>;
export type MedCaseAppealed = Fact<'MedCaseAppealed', { readonly reason: string; readonly at: Timestamp }>;

/** `announced`: whether webhooks report it (Q5), according to the account's settings at that time. */
interface End {
  readonly announced: boolean;
  readonly at: Timestamp;
}
/** `report`: the number of the provider's report that this event records. */
interface Reported {
  readonly report: number;
}
export type MedCaseAccepted = Fact<'MedCaseAccepted', End>;
/** The bank ruled; the platform's operators review the ruling before it takes effect. */
export type MedCaseReviewRequested = Fact<
  'MedCaseReviewRequested',
  Ruling & Reported & { readonly ruledAt: Timestamp; readonly at: Timestamp }
>;
/** An operator approved the ruling. The event that ends the case is in the same append. */
export type MedCaseReviewApproved = Fact<'MedCaseReviewApproved', { readonly at: Timestamp }>;
/** An operator refused the ruling; the case continues unchanged. */
export type MedCaseReviewRefused = Fact<'MedCaseReviewRefused', { readonly at: Timestamp }>;
/** The bank ruled against the merchant. `ruledAt` is the time that the provider reported. */
export type MedCaseRejected = Fact<
  'MedCaseRejected',
  End & Reported & { readonly returnedToPayer: Minor; readonly ruledAt: Timestamp }
>;
/** The bank ruled in the merchant's favor, or the payer withdrew. */
export type MedCaseClosed = Fact<
  'MedCaseClosed',
  End &
    Reported & {
      readonly because: 'disagreed' | 'withdrawn';
      readonly moneyOutcome: Exclude<MoneyOutcome, 'lost'>;
      readonly ruledAt: Timestamp;
    }
>;
/** An operator settled the mismatch (Q1). The payment recorded it first and moved the money. */
export type MedCaseSettled = Fact<
  'MedCaseSettled',
  End & SettlingVerdict & { readonly by: string; readonly reason: string }
>;
/** The bank reported about an ended case (Q11). If it `contradicts` the end, an operator reviews it. */
export type MedCaseLateReported = Fact<'MedCaseLateReported', LateReport & { readonly at: Timestamp }>;
/** The payment refused the bank's report, finally if `isFinal` (Q10). The case does not exist. */
export type MedCaseReportNotTaken = Fact<'MedCaseReportNotTaken', NotTakenReport & { readonly at: Timestamp }>;
/** The banks returned this amount of the Pix to the payer, in one of several parts. */
export type MedCaseMoneyReturned = Fact<
  'MedCaseMoneyReturned',
  { readonly id: string; readonly amount: Minor; readonly returnedAt: Timestamp; readonly at: Timestamp }
>;
/** An operator dismissed the bank's report. If it opened no case yet, it never will. */
export type MedCaseReportDismissed = Fact<
  'MedCaseReportDismissed',
  { readonly by: string; readonly reason: string; readonly at: Timestamp }
>;

/** The personal data of the case was erased, together with that of its payment (L2). */
export type MedCasePersonalDataErased = Fact<'MedCasePersonalDataErased', { readonly at: Timestamp }>;

export type MedCaseEvent =
  | MedCasePersonalDataErased
  | MedCaseMoneyReturned
  | MedCaseReportNotTaken
  | MedCaseReportDismissed
  | MedCaseSettled
  | MedCaseLateReported
  | MedCaseOpened
  | MedCaseEvidenceRequested
  | MedCaseDeadlineNeared
  | MedCaseEvidenceConfirmed
  | MedCaseAppealed
  | MedCaseAccepted
  | MedCaseReviewRequested
  | MedCaseReviewApproved
  | MedCaseReviewRefused
  | MedCaseRejected
  | MedCaseClosed;

/** A ruling that awaits an operator's review. */
export interface PendingReview extends Ruling {
  readonly ruledAt: Timestamp;
  readonly since: Timestamp;
}

export interface MedCase {
  readonly status: CaseStatus;
  readonly terms: CaseTerms;
  readonly evidenceRequestedAt: Timestamp | null;
  /** When the merchant was reminded of the deadline, or null if it was not. */
  readonly remindedAt: Timestamp | null;
  readonly appeal: { readonly reason: string; readonly at: Timestamp } | null;
  readonly review: PendingReview | null;
  /** In order of confirmation. */
  readonly evidence: readonly Evidence[];
  readonly moneyOutcome: MoneyOutcome | null;
  /** Outcome that the merchant or the bank decided; null if undecided. For a mismatch it takes effect only after settlement. */
  readonly decided: MoneyOutcome | null;
  /** How the bank ended the case, or null if it did not. */
  readonly ending: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** Time of the end that the provider reported; null if the case has not ended, or the merchant accepted. */
  readonly ruledAt: Timestamp | null;
  /** Amount held for the case. For a mismatch, the amount that an operator held or counted as lost. */
  readonly held: Minor;
  /** Settlement of a mismatch; null if the reported amount matched. */
  readonly settling: 'awaited' | SettlingVerdict['verdict'] | null;
  /** Amount that the payer got according to the bank; null if not reported yet. */
  readonly returnedToPayer: Minor | null;
  /** Returns that the banks made, as the provider lists them; absent if there are none. */
  readonly returns?: readonly { readonly id: string; readonly amount: Minor }[];
  /** The latest report that contradicts the end and was not dismissed. */
  readonly contradiction: (LateReport & { readonly at: Timestamp }) | null;
  /** The highest recorded number of the provider's reports; the opening is 1. */
  readonly reports: number;
  /** The same, counting only reports before the end. */
  readonly reportsInTime: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly closedAt: Timestamp | null;
  /** Whether webhooks report its end. */
  readonly announced: boolean;
}
/** There is no case, but perhaps a refused or dismissed report. */
interface NoCase {
  readonly status: 'absent';
  readonly notTaken?: NotTakenReport & { readonly at: Timestamp };
  readonly isDismissed?: true;
}
export type MedCaseState = NoCase | MedCase;

const open = ({ at, ...terms }: MedCaseOpened['data']): MedCase => ({
  status: 'open',
  terms,
  evidenceRequestedAt: null,
  remindedAt: null,
  appeal: null,
  review: null,
  evidence: [],
  moneyOutcome: null,
  decided: null,
  ending: null,
  ruledAt: null,
  held: terms.held,
  settling: terms.amountMismatch ? 'awaited' : null,
  returnedToPayer: null,
  contradiction: null,
  reports: 1,
  reportsInTime: 1,
  createdAt: at,
  updatedAt: at,
  closedAt: null,
  announced: true,
});

/** Returns the sum of the returns that the banks made. */
export const sumOfReturns = ({ returns = [] }: Pick<MedCase, 'returns'>): Minor =>
  returns.reduce((sum, one) => add(sum, one.amount), ZERO);

const evolve = (state: MedCaseState, event: MedCaseEvent): MedCaseState => {
  if (state.status === 'absent') return evolveAbsent(state, event);
  const { at } = event.data;
  const ended = { review: null, updatedAt: at, closedAt: at };
  /** The outcome of a mismatch stays unknown until it is settled. */
  const outcomeOf = (decided: MoneyOutcome) => ({
    decided,
    moneyOutcome: state.settling === 'awaited' ? null : decided,
  });
  switch (event.type) {
    case 'MedCaseEvidenceRequested':
      return { ...state, evidenceRequestedAt: at, updatedAt: at };
    case 'MedCaseDeadlineNeared':
      return { ...state, remindedAt: at };
    case 'MedCaseEvidenceConfirmed': {
      const { evidenceId } = event.data;
      const others = state.evidence.filter((one) => one.evidenceId !== evidenceId);
      return { ...state, evidence: [...others, event.data], updatedAt: at };
    }
    case 'MedCaseAppealed':
      return { ...state, status: 'appealed', appeal: event.data, updatedAt: at };
    case 'MedCaseReviewRequested': {
      const { result, returned, returnedToPayer, ruledAt, report } = event.data;
      const review = { result, returned, returnedToPayer, ruledAt, since: at };
      return { ...state, review, reports: report, reportsInTime: report };
    }
    case 'MedCaseReviewApproved':
    case 'MedCaseReviewRefused':
      return { ...state, review: null };
    case 'MedCaseAccepted':
      return { ...state, ...ended, ...outcomeOf('lost'), status: 'accepted', announced: event.data.announced };
    case 'MedCaseRejected': {
      const { ruledAt, report: reports, announced, returnedToPayer } = event.data;
      const ruled = { ending: 'agreed', ruledAt, reports, reportsInTime: reports, announced, returnedToPayer } as const;
      return { ...state, ...ended, ...outcomeOf('lost'), ...ruled, status: 'rejected' };
    }
    case 'MedCaseClosed': {
      const { because: ending, moneyOutcome, ruledAt, report: reports, announced } = event.data;
      // The payer gets everything that the merchant does not get back.
      const returnedToPayer = moneyOutcome === 'closed_without_refund' ? state.held : ZERO;
      const ruled = { ending, ruledAt, reports, reportsInTime: reports, announced, returnedToPayer };
      return { ...state, ...ended, ...outcomeOf(moneyOutcome), ...ruled, status: 'closed' };
    }
    case 'MedCaseSettled':
      return evolveSettled(state, event.data);
    case 'MedCaseLateReported': {
      const { report: reports, contradicts, returnedToPayer } = event.data;
      if (contradicts) return { ...state, reports, contradiction: event.data };
      return { ...state, reports, returnedToPayer: most(state.returnedToPayer ?? ZERO, returnedToPayer) };
    }
    case 'MedCaseMoneyReturned': {
      const { id, amount } = event.data;
      const returns = [...(state.returns ?? []), { id, amount }];
      const returnedToPayer = most(state.returnedToPayer ?? ZERO, sumOfReturns({ returns }));
      return { ...state, returns, returnedToPayer };
    }
    case 'MedCaseReportDismissed':
      return { ...state, contradiction: null };
    case 'MedCasePersonalDataErased':
      return erased(state);
    case 'MedCaseOpened':
    case 'MedCaseReportNotTaken':
      return state;
    default:
      return ignore(state, event);
  }
};

const evolveAbsent = (state: NoCase, event: MedCaseEvent): MedCaseState => {
  switch (event.type) {
    case 'MedCaseOpened':
      return open(event.data);
    case 'MedCaseReportNotTaken':
      return { ...state, notTaken: event.data };
    case 'MedCaseReportDismissed':
      return { ...state, isDismissed: true };
    case 'MedCaseEvidenceRequested':
    case 'MedCaseDeadlineNeared':
    case 'MedCaseEvidenceConfirmed':
    case 'MedCaseAppealed':
    case 'MedCaseAccepted':
    case 'MedCaseReviewRequested':
    case 'MedCaseReviewApproved':
    case 'MedCaseReviewRefused':
    case 'MedCaseRejected':
    case 'MedCaseClosed':
    case 'MedCaseSettled':
    case 'MedCaseLateReported':
    case 'MedCaseMoneyReturned':
    case 'MedCasePersonalDataErased':
      return state;
    default:
      return ignore(state, event);
  }
};

const erased = (state: MedCase): MedCase => ({
  ...state,
  terms: { ...state.terms, reason: null },
  appeal: state.appeal && { ...state.appeal, reason: ERASED },
  evidence: state.evidence.map((file) => ({ ...file, fileName: ERASED })),
});

/** Erases the case's personal data. May be repeated, for data that was recorded since. */
export const eraseCase =
  (at: Timestamp): Decision<MedCaseState, MedCaseEvent, 'erased'> =>
  (state) => ({
    events: state.status === 'absent' ? [] : [{ type: 'MedCasePersonalDataErased', data: { at } }],
    reply: 'erased',
  });

const STATUS_OF = { lost: 'rejected', nothing: 'closed' } as const;
const OUTCOME_OF = { lost: 'lost', nothing: 'refunded_to_merchant' } as const;

/** Settles a mismatch. A held one continues as an ordinary case, or ends with the ruling if the bank has already ruled. */
const evolveSettled = (state: MedCase, { verdict, amount, announced, at }: MedCaseSettled['data']): MedCase => {
  if (state.settling !== 'awaited') return state;
  const settled = { ...state, settling: verdict, held: amount, updatedAt: at };
  if (verdict === 'held') return { ...settled, moneyOutcome: state.decided };
  const end = { status: STATUS_OF[verdict], moneyOutcome: OUTCOME_OF[verdict], announced };
  return { ...settled, ...end, review: null, closedAt: state.closedAt ?? at };
};

export const medCase: Decider<MedCaseState, MedCaseEvent> = { initial: { status: 'absent' }, evolve };

/** Returns whether the case accepts answers and evidence: it is open or appealed. */
export const isUnderWay = ({ status }: MedCase): boolean => status === 'open' || status === 'appealed';

/** The merchant's time to answer if the provider sets no deadline (Q2). */
export const RESPONSE_MS = 3 * DAY_MS;
/** The merchant is reminded this long before the deadline (Q2). */
const REMINDER_MS = DAY_MS;

/** Returns when to remind the merchant, or null if it has answered, was reminded, or has no deadline ahead. */
export const reminderAt = (state: MedCaseState): Timestamp | null => {
  if (state.status !== 'open' || state.remindedAt !== null) return null;
  const { responseDeadline } = state.terms;
  return responseDeadline === null || responseDeadline <= state.createdAt
    ? null
    : addMillis(responseDeadline, -REMINDER_MS);
};
