// The public view of a case after one of its events. The payment's stream stores it, so that a published view never changes.
import type { MedCaseId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { CaseStatus, CaseType, MedCase, MedCaseEvent, MoneyOutcome } from './medCase.ts';

export interface CaseSnapshot {
  readonly caseId: MedCaseId;
  readonly type: CaseType;
  readonly status: CaseStatus;
  readonly amount: Minor;
  readonly currency: string;
  readonly reason: string | null;
  readonly responseDeadline: Timestamp | null;
  readonly evidenceRequestedAt: Timestamp | null;
  readonly appealReason: string | null;
  readonly appealedAt: Timestamp | null;
  readonly evidenceCount: number;
  readonly moneyOutcome: MoneyOutcome | null;
  readonly openedAt: Timestamp;
  readonly closedAt: Timestamp | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export const snapshotOf = (medCase: MedCase): CaseSnapshot => {
  const { caseId, type, amount, currency, reason, responseDeadline, openedAt } = medCase.terms;
  const { status, evidenceRequestedAt, appeal, evidence, moneyOutcome, createdAt, updatedAt, closedAt } = medCase;
  return {
    caseId,
    type,
    status,
    amount,
    currency,
    reason,
    responseDeadline,
    evidenceRequestedAt,
    appealReason: appeal?.reason ?? null,
    appealedAt: appeal?.at ?? null,
    evidenceCount: evidence.length,
    moneyOutcome,
    openedAt,
    closedAt,
    createdAt,
    updatedAt,
  };
};

/** The changes of a case that its payment records. All others concern only the merchant, its files and the operators. */
export const CASE_CHANGES = [
  'opened',
  'evidence_requested',
  'appealed',
  'accepted',
  'rejected',
  'closed',
  'settled',
  'reported',
] as const;
export type CaseChange = (typeof CASE_CHANGES)[number];

const CHANGE_OF: { readonly [T in MedCaseEvent['type']]: CaseChange | null } = {
  MedCaseOpened: 'opened',
  MedCaseEvidenceRequested: 'evidence_requested',
  MedCaseAppealed: 'appealed',
  MedCaseAccepted: 'accepted',
  MedCaseRejected: 'rejected',
  MedCaseClosed: 'closed',
  MedCaseSettled: 'settled',
  MedCaseLateReported: 'reported',
  MedCaseMoneyReturned: 'reported',
  MedCaseReportNotTaken: null,
  MedCaseReportDismissed: null,
  MedCaseDeadlineNeared: null,
  MedCaseEvidenceConfirmed: null,
  MedCaseReviewRequested: null,
  MedCaseReviewApproved: null,
  MedCaseReviewRefused: null,
  MedCasePersonalDataErased: null,
};

/** Returns the change that the payment records, or null if it records none. */
export const caseChange = ({ type }: MedCaseEvent): CaseChange | null => CHANGE_OF[type];
