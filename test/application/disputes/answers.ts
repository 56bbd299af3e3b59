// The expected reactions of the processes for dispute cases to each event of the log (test/application/reactions.test.ts).
import { type Answers, clear, DAY_BEFORE, job, REVISION, timer } from '../../support/reactionLog.ts';
import { CASE_ID, PAYMENT_ID } from '../../support/samples.ts';

const CASE = { caseId: CASE_ID };
const mailed = [job('mailCase', { ...CASE, revision: REVISION })];
const told = [job('tellPayment', CASE)];
const taken = [job('takeOwedReports', { paymentId: PAYMENT_ID })];
const answered = [clear('remindOfDeadline', CASE_ID)];

/** By process and by name in the log. Events that are not listed cause no reaction. */
export const ANSWERS: Answers = {
  caseTelling: {
    'case opened': told,
    'case without a deadline opened': told,
    'case EvidenceRequested': told,
    'case Appealed': told,
    'case Accepted': told,
    'case Rejected': told,
    'case Closed': told,
    'case Settled': told,
    'case settled as held': told,
    'case LateReported': told,
    'case returned by the bank': told,
  },
  caseSettling: {
    'dispute settled': [job('followSettling', { paymentId: PAYMENT_ID, revision: REVISION })],
    'dispute resolved': taken,
    'held payment released': taken,
    // Reports that arrive during the review have to wait, and the operator may use a terminal, which can’t reach the bank.
    'case ReviewApproved': taken,
    'case ReviewRefused': taken,
  },
  caseDeadlines: {
    'case opened': [timer('remindOfDeadline', CASE_ID, DAY_BEFORE)],
    'case Appealed': answered,
    'case Accepted': answered,
    'case Rejected': answered,
    'case Closed': answered,
    'case Settled': answered,
  },
  caseMailing: {
    'case opened': mailed,
    'case without a deadline opened': mailed,
    'case EvidenceRequested': mailed,
    'case DeadlineNeared': mailed,
    'case Accepted': mailed,
    'case Rejected': mailed,
    'case Closed': mailed,
    'case Settled': mailed,
    'case settled as held': mailed,
  },
};

/** The events in the log for which endpoints receive messages. */
export const TOLD: readonly string[] = ['dispute opened', 'dispute updated', 'dispute settled', 'dispute resolved'];
