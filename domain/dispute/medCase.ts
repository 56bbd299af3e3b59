// A dispute case: what the payer's bank alleges of a payment, what the merchant answers, and how it ends. What it means for the money
// is in the payment's stream, which opens the case and is told of each change (ADR 0011).
import { type Decider, ignore } from '../kernel/decider.ts';
import type { Fact } from '../kernel/event.ts';
import type { AccountId, MedCaseId, Mode, PaymentId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import { addMillis, DAY_MS, type Timestamp } from '../kernel/time.ts';
import type { Evidence, EvidenceGrant } from './evidence.ts';

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
  /** The reported amount is not the charge's: no money moves, whatever becomes of the case (Q1). */
  readonly amountMismatch: boolean;
  /** As the provider reported it. */
  readonly openedAt: Timestamp;
}

export type MedCaseOpened = Fact<'MedCaseOpened', CaseTerms & { readonly at: Timestamp }>;
/** The platform asked the merchant for evidence; again: once more. */
export type MedCaseEvidenceRequested = Fact<'MedCaseEvidenceRequested', { readonly at: Timestamp }>;
/** A day is left to answer, and the merchant has not answered yet. */
export type MedCaseDeadlineNeared = Fact<'MedCaseDeadlineNeared', { readonly at: Timestamp }>;
/** The merchant may upload one file until `expiresAt`. */
export type MedCaseEvidenceGranted = Fact<'MedCaseEvidenceGranted', EvidenceGrant>;
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
export type MedCaseRejected = Fact<'MedCaseRejected', End & Reported & { readonly ruledAt: Timestamp }>;
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
export type MedCaseEvent =
  | MedCaseOpened
  | MedCaseEvidenceRequested
  | MedCaseDeadlineNeared
  | MedCaseEvidenceGranted
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
  /** Not confirmed, in order; those that expired a day ago go when the next one is granted. */
  readonly grants: readonly EvidenceGrant[];
  readonly moneyOutcome: MoneyOutcome | null;
  /** What the bank said when it ended the case; null: it did not. */
  readonly ending: 'agreed' | 'disagreed' | 'withdrawn' | null;
  /** As the provider reported the end; null: it has not ended, or the merchant accepted. */
  readonly ruledAt: Timestamp | null;
  /** The highest number of the provider's reports that was taken up: the opening is 1. */
  readonly reports: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly closedAt: Timestamp | null;
  /** Whether webhooks tell of its end. */
  readonly announced: boolean;
}
export type MedCaseState = { readonly status: 'absent' } | MedCase;

const open = ({ at, ...terms }: MedCaseOpened['data']): MedCase => ({
  status: 'open',
  terms,
  evidenceRequestedAt: null,
  remindedAt: null,
  appeal: null,
  review: null,
  evidence: [],
  grants: [],
  moneyOutcome: null,
  ending: null,
  ruledAt: null,
  reports: 1,
  createdAt: at,
  updatedAt: at,
  closedAt: null,
  announced: true,
});

const evolve = (state: MedCaseState, event: MedCaseEvent): MedCaseState => {
  if (event.type === 'MedCaseOpened') return state.status === 'absent' ? open(event.data) : state;
  if (state.status === 'absent') return state;
  const { at } = event.data;
  const ended = { review: null, updatedAt: at, closedAt: at };
  switch (event.type) {
    case 'MedCaseEvidenceRequested':
      return { ...state, evidenceRequestedAt: at, updatedAt: at };
    case 'MedCaseDeadlineNeared':
      return { ...state, remindedAt: at };
    case 'MedCaseEvidenceGranted': {
      const kept = state.grants.filter(({ expiresAt }) => addMillis(expiresAt, DAY_MS) > at);
      return { ...state, grants: [...kept, event.data] };
    }
    case 'MedCaseEvidenceConfirmed': {
      const { evidenceId } = event.data;
      const grants = state.grants.filter((grant) => grant.evidenceId !== evidenceId);
      const others = state.evidence.filter((one) => one.evidenceId !== evidenceId);
      return { ...state, grants, evidence: [...others, event.data], updatedAt: at };
    }
    case 'MedCaseAppealed':
      return { ...state, status: 'appealed', appeal: event.data, updatedAt: at };
    case 'MedCaseReviewRequested': {
      const { result, returned, ruledAt, report } = event.data;
      return { ...state, review: { result, returned, ruledAt, since: at }, reports: report };
    }
    case 'MedCaseReviewApproved':
    case 'MedCaseReviewRefused':
      return { ...state, review: null };
    case 'MedCaseAccepted':
      return { ...state, ...ended, status: 'accepted', moneyOutcome: 'lost', announced: event.data.announced };
    case 'MedCaseRejected': {
      const { ruledAt, report: reports, announced } = event.data;
      return {
        ...state,
        ...ended,
        status: 'rejected',
        moneyOutcome: 'lost',
        ending: 'agreed',
        ruledAt,
        reports,
        announced,
      };
    }
    case 'MedCaseClosed': {
      const { because: ending, moneyOutcome, ruledAt, report: reports, announced } = event.data;
      return { ...state, ...ended, status: 'closed', moneyOutcome, ending, ruledAt, reports, announced };
    }
    default:
      return ignore(state, event);
  }
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
