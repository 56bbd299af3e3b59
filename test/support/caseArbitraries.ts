// Arbitrary data for events of dispute cases.
import fc from 'fast-check';
import { CASE_TYPES, NEVER_BECAUSE, OWED_BECAUSE } from '../../domain/dispute/medCase.ts';
import type { AccountId, EvidenceId, MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import { anyAmount, anyText, anyTime, count, mode, optional, orNull, rawId } from './arbitraryValues.ts';

const evidenceFile = {
  evidenceId: rawId<EvidenceId>(),
  fileName: anyText,
  fileSize: count,
  mimeType: anyText,
  uploadedBy: fc.constantFrom('merchant' as const, 'partner' as const, 'platform' as const),
};

export const CASE_DATA = {
  MedCaseOpened: fc.record({
    caseId: rawId<MedCaseId>(),
    paymentId: rawId<PaymentId>(),
    accountId: rawId<AccountId>(),
    mode,
    providerCaseId: anyText,
    type: fc.constantFrom(...CASE_TYPES),
    amount: anyAmount,
    currency: anyText,
    reason: optional,
    responseDeadline: orNull(anyTime),
    amountMismatch: fc.boolean(),
    held: anyAmount,
    openedAt: anyTime,
    at: anyTime,
  }),
  MedCasePersonalDataErased: fc.record({ at: anyTime }),
  MedCaseEvidenceRequested: fc.record({ at: anyTime }),
  MedCaseDeadlineNeared: fc.record({ at: anyTime }),
  MedCaseEvidenceConfirmed: fc.record({ ...evidenceFile, sha256: anyText, grantedAt: anyTime, at: anyTime }),
  MedCaseAppealed: fc.record({ reason: anyText, at: anyTime }),
  MedCaseAccepted: fc.record({ announced: fc.boolean(), at: anyTime }),
  MedCaseReviewRequested: fc.record({
    result: fc.constantFrom('agreed' as const, 'disagreed' as const),
    returned: fc.boolean(),
    returnedToPayer: orNull(anyAmount),
    report: count,
    ruledAt: anyTime,
    at: anyTime,
  }),
  MedCaseReviewApproved: fc.record({ at: anyTime }),
  MedCaseReviewRefused: fc.record({ at: anyTime }),
  MedCaseReportNotTaken: fc.record({
    caseId: rawId<MedCaseId>(),
    paymentId: rawId<PaymentId>(),
    accountId: rawId<AccountId>(),
    mode,
    providerCaseId: anyText,
    amount: anyAmount,
    currency: anyText,
    because: fc.constantFrom(...OWED_BECAUSE, ...NEVER_BECAUSE),
    isFinal: fc.boolean(),
    at: anyTime,
  }),
  MedCaseReportDismissed: fc.record({ by: anyText, reason: anyText, at: anyTime }),
  MedCaseSettled: fc.record({
    verdict: fc.constantFrom('held' as const, 'lost' as const, 'nothing' as const),
    amount: anyAmount,
    by: anyText,
    reason: anyText,
    announced: fc.boolean(),
    at: anyTime,
  }),
  MedCaseMoneyReturned: fc.record({ id: anyText, amount: anyAmount, returnedAt: anyTime, at: anyTime }),
  MedCaseLateReported: fc.record({
    report: count,
    result: fc.constantFrom('agreed' as const, 'disagreed' as const, 'withdrawn' as const),
    returned: fc.boolean(),
    returnedToPayer: anyAmount,
    contradicts: fc.boolean(),
    ruledAt: anyTime,
    at: anyTime,
  }),
  MedCaseRejected: fc.record({
    announced: fc.boolean(),
    report: count,
    returnedToPayer: anyAmount,
    ruledAt: anyTime,
    at: anyTime,
  }),
  MedCaseClosed: fc.record({
    because: fc.constantFrom('disagreed' as const, 'withdrawn' as const),
    moneyOutcome: fc.constantFrom('refunded_to_merchant' as const, 'closed_without_refund' as const),
    announced: fc.boolean(),
    report: count,
    ruledAt: anyTime,
    at: anyTime,
  }),
};
