// The groups of a MED case's events, cut so that most consumers read one or two of them.
import { partition } from '../kernel/eventGroups.ts';
import type { MedCaseEvent } from './medCase.ts';

export const MED_CASE_GROUPS = partition<MedCaseEvent>()({
  course: ['MedCaseOpened', 'MedCaseEvidenceRequested', 'MedCaseAppealed'],
  deadline: ['MedCaseDeadlineNeared'],
  evidence: ['MedCaseEvidenceConfirmed'],
  review: ['MedCaseReviewRequested', 'MedCaseReviewApproved', 'MedCaseReviewRefused'],
  end: ['MedCaseAccepted', 'MedCaseRejected', 'MedCaseClosed', 'MedCaseSettled'],
  /** Reports of the bank outside the course of a case. */
  reports: ['MedCaseLateReported', 'MedCaseReportNotTaken', 'MedCaseReportDismissed'],
});
