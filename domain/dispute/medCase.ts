// A dispute case: what the payer's bank alleges of a payment, what the merchant answers, and how it ends. What it means for the money
// is in the payment's stream, which opens the case and is told of each change (ADR 0011).
import { type Decider, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, EvidenceId, MedCaseId, Mode, PaymentId } from '../kernel/ids.ts';
import { type Minor, ZERO } from '../kernel/money.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';

/** `med` is a dispute of a Pix; the others are of cards. */
export const CASE_TYPES = ['med', 'chargeback', 'dispute', 'fraud'] as const;
export type CaseType = (typeof CASE_TYPES)[number];

export const CASE_STATUSES = ['open', 'appealed', 'accepted', 'rejected', 'closed'] as const;
export type CaseStatus = (typeof CASE_STATUSES)[number];

export const DISPUTE_METHODS = ['scam', 'unauthorized', 'coercion', 'invasion', 'other'] as const;
/** What the payer says happened. */
export type DisputeMethod = (typeof DISPUTE_METHODS)[number];

/** Where the disputed money went in the end. */
export const MONEY_OUTCOMES = ['refunded_to_merchant', 'closed_without_refund', 'lost'] as const;
export type MoneyOutcome = (typeof MONEY_OUTCOMES)[number];

/** `agreed`: the payer is right, the merchant lost. `returned` counts with `disagreed`: whether the merchant has its money back. */
export interface Ruling {
  readonly result: 'agreed' | 'disagreed';
  readonly returned: boolean;
  /** Counts with `agreed`: how much the payer got. null: all of the hold (Q11). */
  readonly returnedToPayer: Minor | null;
}

/** What an operator decided about a mismatch: hold `amount`, take it as lost, or neither (then it is 0). */
export interface SettlingVerdict {
  readonly verdict: 'held' | 'lost' | 'nothing';
  readonly amount: Minor;
}

/** A report of the bank about a case that had ended. */
export interface LateReport {
  /** The number of the provider's report. */
  readonly report: number;
  readonly result: 'agreed' | 'disagreed' | 'withdrawn';
  readonly returned: boolean;
  readonly returnedToPayer: Minor;
  readonly contradicts: boolean;
  readonly ruledAt: Timestamp;
}

/** Why a payment does not take a dispute: those of the first list may pass, the others never do (Q10). */
export const OWED_BECAUSE = [
  'not_paid',
  'held_for_review',
  'being_returned',
  'case_open',
  'mismatch_not_settled',
] as const;
export const NEVER_BECAUSE = ['not_paid', 'other_method', 'returned', 'refunded', 'lost_before'] as const;
export type NeverBecause = (typeof NEVER_BECAUSE)[number];
export type NotTakenBecause = (typeof OWED_BECAUSE)[number] | (typeof NEVER_BECAUSE)[number];

/** A dispute that the bank reported and the payment did not take. */
export interface NotTakenReport {
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly providerCaseId: string;
  readonly amount: Minor;
  readonly currency: string;
  readonly because: NotTakenBecause;
  readonly isFinal: boolean;
}

/** What is fixed when a case opens. */
export interface CaseTerms {
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  readonly providerCaseId: string;
  readonly type: CaseType;
  /** As the provider reported it; it may differ from the charge's. */
  readonly amount: Minor;
  readonly currency: string;
  readonly reason: string | null;
  /** null: the provider says that it is unknown. */
  readonly responseDeadline: Timestamp | null;
  /** The reported amount is neither the charge's nor its refundable rest: no money moves until an operator settles the case (Q1). */
  readonly amountMismatch: boolean;
  /** What the payment holds for the case; 0 of a mismatch. */
  readonly held: Minor;
  /** As the provider reported it. */
  readonly openedAt: Timestamp;
}

/** A confirmed file. `at`: when it was confirmed. */
export interface Evidence {
  readonly evidenceId: EvidenceId;
  readonly fileName: string;
  /** In bytes, from 1. */
  readonly fileSize: number;
  readonly mimeType: string;
  readonly uploadedBy: 'merchant' | 'partner' | 'platform';
  /** Of the file, 64 hex digits. */
  readonly sha256: string;
  /** When it was granted. */
  readonly grantedAt: Timestamp;
  readonly at: Timestamp;
}

export type MedCaseOpened = Fact<'MedCaseOpened', CaseTerms & { readonly at: Timestamp }>;
/** The platform asked the merchant for evidence; again: once more. */
export type MedCaseEvidenceRequested = Fact<'MedCaseEvidenceRequested', { readonly at: Timestamp }>;
/** A day is left to answer, and the merchant has not answered yet. */
export type MedCaseDeadlineNeared = Fact<'MedCaseDeadlineNeared', { readonly at: Timestamp }>;
/** The file is there, whole and of its type. */
export type MedCaseEvidenceConfirmed = Fact<'MedCaseEvidenceConfirmed', Evidence>;
export type MedCaseAppealed = Fact<'MedCaseAppealed', { readonly reason: string; readonly at: Timestamp }>;

/** `announced`: whether webhooks tell of it (Q5), as the account's settings were then. */
interface End {
  readonly announced: boolean;
  readonly at: Timestamp;
}
/** `report`: the number of the provider's report that the event takes up. */
interface Reported {
  readonly report: number;
}
export type MedCaseAccepted = Fact<'MedCaseAccepted', End>;
/** The bank ruled, and the platform's operators look at it before it counts. */
export type MedCaseReviewRequested = Fact<
  'MedCaseReviewRequested',
  Ruling & Reported & { readonly ruledAt: Timestamp; readonly at: Timestamp }
>;
/** The ruling counts: the end comes in the same append. */
export type MedCaseReviewApproved = Fact<'MedCaseReviewApproved', { readonly at: Timestamp }>;
/** The ruling does not count: the case goes on as it was. */
export type MedCaseReviewRefused = Fact<'MedCaseReviewRefused', { readonly at: Timestamp }>;
/** Ruled against the merchant. `ruledAt`: as the provider reported it. */
export type MedCaseRejected = Fact<
  'MedCaseRejected',
  End & Reported & { readonly returnedToPayer: Minor; readonly ruledAt: Timestamp }
>;
/** Ruled in the merchant's favour, or withdrawn by the payer. */
export type MedCaseClosed = Fact<
  'MedCaseClosed',
  End &
    Reported & {
      readonly because: 'disagreed' | 'withdrawn';
      readonly moneyOutcome: Exclude<MoneyOutcome, 'lost'>;
      readonly ruledAt: Timestamp;
    }
>;
/** An operator settled the mismatch (Q1). The payment recorded it first, and moved the money. */
export type MedCaseSettled = Fact<
  'MedCaseSettled',
  End & SettlingVerdict & { readonly by: string; readonly reason: string }
>;
/** The bank reported something of an ended case (Q11). `contradicts`: it differs from how the case ended, and an operator looks at it. */
export type MedCaseLateReported = Fact<'MedCaseLateReported', LateReport & { readonly at: Timestamp }>;
/** The payment can't take the bank's report now; `isFinal`: it never can (Q10). The case does not exist. */
export type MedCaseReportNotTaken = Fact<'MedCaseReportNotTaken', NotTakenReport & { readonly at: Timestamp }>;
/** An operator took the bank's report off the list; one that no case was opened for never opens one. */
export type MedCaseReportDismissed = Fact<
  'MedCaseReportDismissed',
  { readonly by: string; readonly reason: string; readonly at: Timestamp }
>;

export type MedCaseEvent =
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

/** A ruling that waits for an operator. */
export interface PendingReview extends Ruling {
  readonly ruledAt: Timestamp;
  readonly since: Timestamp;
}

export interface MedCase {
  readonly status: CaseStatus;
  readonly terms: CaseTerms;
  readonly evidenceRequestedAt: Timestamp | null;
  /** When the merchant was reminded of the deadline; null: it was not. */
  readonly remindedAt: Timestamp | null;
  readonly appeal: { readonly reason: string; readonly at: Timestamp } | null;
  readonly review: PendingReview | null;
  /** In order of their confirmation. */
  readonly evidence: readonly Evidence[];
  readonly moneyOutcome: MoneyOutcome | null;
  /** How its merchant or the bank ended it, which counts for the money only once a mismatch is settled; null: neither did. */
  readonly decided: MoneyOutcome | null;
  /** What the bank said when it ended the case; null: it did not. */
  readonly ending: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** As the provider reported the end; null: it has not ended, or the merchant accepted. */
  readonly ruledAt: Timestamp | null;
  /** What is held for it; of a mismatch what an operator decided is held or lost. */
  readonly held: Minor;
  /** What became of a mismatch; null: the reported amount matched. */
  readonly settling: 'awaited' | SettlingVerdict['verdict'] | null;
  /** What the payer got, as the bank says; null: it said nothing of it yet. */
  readonly returnedToPayer: Minor | null;
  /** The latest report that contradicts the end and was not dismissed. */
  readonly contradiction: (LateReport & { readonly at: Timestamp }) | null;
  /** The highest number of the provider's reports that was taken up: the opening is 1. */
  readonly reports: number;
  /** The same, of the reports before the end. */
  readonly reportsInTime: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly closedAt: Timestamp | null;
  /** Whether webhooks tell of its end. */
  readonly announced: boolean;
}
/** No case, and perhaps a report that was not taken, or was dismissed. */
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

const evolve = (state: MedCaseState, event: MedCaseEvent): MedCaseState => {
  if (state.status === 'absent') return evolveAbsent(state, event);
  const { at } = event.data;
  const ended = { review: null, updatedAt: at, closedAt: at };
  /** Until a mismatch is settled, the outcome of its money is unknown. */
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
      // What does not come back to the merchant has gone to the payer.
      const returnedToPayer = moneyOutcome === 'closed_without_refund' ? state.held : ZERO;
      const ruled = { ending, ruledAt, reports, reportsInTime: reports, announced, returnedToPayer };
      return { ...state, ...ended, ...outcomeOf(moneyOutcome), ...ruled, status: 'closed' };
    }
    case 'MedCaseSettled':
      return evolveSettled(state, event.data);
    case 'MedCaseLateReported': {
      const { report: reports, contradicts, returnedToPayer } = event.data;
      if (contradicts) return { ...state, reports, contradiction: event.data };
      return { ...state, reports, returnedToPayer: state.returnedToPayer ?? returnedToPayer };
    }
    case 'MedCaseReportDismissed':
      return { ...state, contradiction: null };
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
      return state;
    default:
      return ignore(state, event);
  }
};

const STATUS_OF = { lost: 'rejected', nothing: 'closed' } as const;
const OUTCOME_OF = { lost: 'lost', nothing: 'refunded_to_merchant' } as const;

/** A mismatch that is held is an ordinary case from then on; one that the bank ruled at the same time ends as that ruling says. */
const evolveSettled = (state: MedCase, { verdict, amount, announced, at }: MedCaseSettled['data']): MedCase => {
  if (state.settling !== 'awaited') return state;
  const settled = { ...state, settling: verdict, held: amount, updatedAt: at };
  if (verdict === 'held') return { ...settled, moneyOutcome: state.decided };
  const end = { status: STATUS_OF[verdict], moneyOutcome: OUTCOME_OF[verdict], announced };
  return { ...settled, ...end, review: null, closedAt: state.closedAt ?? at };
};

export const medCase: Decider<MedCaseState, MedCaseEvent> = { initial: { status: 'absent' }, evolve };

/** A case takes answers and evidence while it is open or appealed. */
export const isUnderWay = ({ status }: MedCase): boolean => status === 'open' || status === 'appealed';

/** How long before the deadline the merchant is reminded of it (Q2). */
const REMINDER_MS = DAY_MS;

/** When the merchant is to be reminded of the deadline; null: it has answered, was reminded, or there is no deadline ahead. */
export const reminderAt = (state: MedCaseState): Timestamp | null => {
  if (state.status !== 'open' || state.remindedAt !== null) return null;
  const { responseDeadline } = state.terms;
  return responseDeadline === null || responseDeadline <= state.createdAt
    ? null
    : addMillis(responseDeadline, -REMINDER_MS);
};
