// Disputes: cases that payers' banks open about payments, from opening to settlement.
import { disputeNotifications, sandboxDisputeNotifications } from '../../domain/dispute/settings.ts';
import { BY_ROW, capability, each, job, owedBy } from '../core/capability.ts';
import type { NeedsOf } from '../core/useCase.ts';
import type { EvidenceLinks } from '../ports/evidenceStorage.ts';
import type { CaseReads, CaseViews } from '../ports/readModels/cases.ts';
import { answerCase } from './answerCase.ts';
import { caseMailing, mailCase, sendCaseMail } from './caseMails.ts';
import { caseDeadlines, recordNearDeadline, remindOfDeadline } from './deadlines.ts';
import { completeUpload, evidenceUrl, grantUpload, receiveEvidence } from './evidence.ts';
import { removeUnconfirmed, SWEEP_PATTERN, type SweepNeeds, type SweepPlace } from './evidenceSweep.ts';
import { uploadFromForm } from './formEvidence.ts';
import { takeOwedReports, takeOwedReportsOf } from './owedReports.ts';
import { caseReviews, type ReviewNeeds } from './reviews.ts';
import { caseSettling, followSettling, followSettlingOf } from './settleCase.ts';
import { takeProviderCases } from './takeProviderCases.ts';
import { caseTelling, tellPayment, tellPaymentOf } from './tellPayment.ts';
import { showEvidence } from './viewEvidence.ts';

type DisputesNeeds = SweepNeeds &
  Omit<NeedsOf<typeof completeUpload | typeof grantUpload | typeof receiveEvidence>, 'links'> &
  NeedsOf<
    | typeof answerCase
    | typeof sendCaseMail
    | typeof tellPaymentOf
    | typeof followSettlingOf
    | typeof takeOwedReportsOf
    | typeof recordNearDeadline
    | typeof takeProviderCases
  > & {
    readonly cases: CaseReads;
    readonly evidenceLinks: EvidenceLinks;
    readonly viewSeconds: number;
    /** For the HTTP routes. */
    readonly views: { readonly cases: CaseViews };
  };

const PLACES = { places: 24, perTarget: 24 };

export const disputes = capability({
  name: 'disputes',
  parts: (needs: DisputesNeeds) => ({ ...needs, links: needs.evidenceLinks, sweep: { after: null } as SweepPlace }),
  settings: [disputeNotifications],
  sandboxSwitches: [sandboxDisputeNotifications],
  processes: [caseTelling, caseSettling, caseDeadlines, caseMailing],
  jobs: [
    job(tellPayment, {
      handler: (needs: DisputesNeeds) => each(tellPaymentOf(needs)),
      places: PLACES,
      idle: 'awaited',
      // The payment's stream records which steps it has; no table shows case and payment together.
      owed: BY_ROW,
    }),
    job(followSettling, {
      handler: (needs: DisputesNeeds) => each(followSettlingOf(needs)),
      places: PLACES,
      idle: 'awaited',
      // The case's stream records which settlements it has; no table shows case and payment together.
      owed: BY_ROW,
    }),
    job(takeOwedReports, {
      handler: (needs: DisputesNeeds) => each(takeOwedReportsOf(needs)),
      places: PLACES,
      idle: 'awaited',
      owed: owedBy(
        ({ cases }: DisputesNeeds, { before, page }) => cases.owedReports(before, page),
        ({ tenant, paymentId }) => ({ tenant, payload: { paymentId } }),
      ),
      // A report may wait for long, for example for an operator (Q10).
      routine: '*/30 * * * * *',
    }),
    job(remindOfDeadline, {
      handler: (needs: DisputesNeeds) => each(recordNearDeadline(needs)),
      places: PLACES,
      idle: 'apart',
      owed: owedBy(
        ({ cases }: DisputesNeeds, { before, page }) => cases.overdueReminders(before, page),
        ({ tenant, caseId }) => ({ tenant, payload: { caseId } }),
      ),
    }),
    job(mailCase, {
      handler: (needs: DisputesNeeds) => each(sendCaseMail(needs)),
      // A mail server may be slow.
      places: { places: 4, perTarget: 4 },
      idle: 'apart',
      owed: BY_ROW,
    }),
  ],
  upkeep: [
    {
      onlyLeader: true,
      failure: 'unconfirmed evidence files could not be removed',
      pattern: SWEEP_PATTERN,
      run: (needs) => removeUnconfirmed(needs, needs.sweep),
    },
  ],
  gauges: [
    {
      name: 'open_dispute_cases',
      help: 'Dispute cases that are open.',
      read: ({ cases }) => cases.countUnderWay(),
    },
    {
      name: 'dispute_cases_past_deadline',
      help: 'Open dispute cases whose response deadline has passed, by the account’s own time.',
      read: ({ cases }) => cases.countPastDeadline(),
    },
    {
      name: 'dispute_cases_waiting',
      help: 'Dispute cases and reports that need an operator’s decision (`med review list`).',
      read: ({ cases }) => cases.countWaiting(),
    },
    {
      name: 'dispute_mismatches_open',
      help: 'Dispute cases with a mismatched amount that an operator must settle (`med settle`).',
      read: ({ cases }) => cases.countWaiting('amount_mismatch'),
    },
    {
      name: 'dispute_reports_not_taken',
      help: 'Dispute reports that can never open a case (`med review dismiss`).',
      read: ({ cases }) => cases.countWaiting('report_not_taken'),
    },
    {
      name: 'dispute_reports_contradicting',
      help: 'Closed dispute cases whose bank later reported a different outcome (`med review dismiss`).',
      read: ({ cases }) => cases.countWaiting('report_contradicts'),
    },
    {
      name: 'dispute_reports_owed',
      help: 'Dispute reports that wait until their payment can be disputed.',
      read: ({ cases }) => cases.countOwedReports(),
    },
  ],
  notifications: {
    // A chargeback may arrive before its payment.
    case: {
      handle: (needs) => {
        const take = takeProviderCases(needs);
        return async ({ paymentId }) => {
          await take(paymentId);
          return true;
        };
      },
      overtakesMoney: true,
    },
  },
  useCases: (needs) => ({
    answerCase: answerCase(needs),
    grantUpload: grantUpload(needs),
    receiveEvidence: receiveEvidence(needs),
    completeUpload: completeUpload(needs),
    uploadFromForm: uploadFromForm(needs),
    evidenceUrl: evidenceUrl(needs),
    showEvidence: showEvidence(needs),
  }),
  operators: (needs: ReviewNeeds) => caseReviews(needs),
});
