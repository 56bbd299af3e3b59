// Disputes: cases that payers' banks open about payments, from their opening to where the money went.
import type { MedCaseId } from '../../domain/kernel/ids.ts';
import type { Accounts } from '../core/accounts.ts';
import { BY_ROW, type Capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { EvidenceStorage } from '../ports/evidenceStorage.ts';
import type { MailSender } from '../ports/mail.ts';
import type { PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import type { CaseReads } from '../ports/readModels/cases.ts';
import { caseMailing, mailCase, sendCaseMail } from './caseMails.ts';
import { caseDeadlines, recordNearDeadline, remindOfDeadline } from './deadlines.ts';
import { evidenceSweep, removeUnconfirmed, sweepEvidence } from './evidenceSweep.ts';
import { caseTelling, tellPayment, tellPaymentOf } from './tellPayment.ts';

export interface DisputesNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly cases: CaseReads;
  readonly mail: MailSender;
  readonly evidence: EvidenceStorage;
}

const overdueReminders: OwedSource<DisputesNeeds, { readonly tenant: Tenant; readonly caseId: MedCaseId }> = (
  { cases },
  { before, page },
) => cases.overdueReminders(before, page);

const PLACES = { places: 24, perTarget: 24 };

export const disputes: Capability<DisputesNeeds> = {
  name: 'disputes',
  processes: [caseTelling, caseDeadlines, caseMailing, evidenceSweep],
  jobs: [
    job(tellPayment, {
      handler: (needs: DisputesNeeds) => each(tellPaymentOf(needs)),
      places: PLACES,
      idle: 'awaited',
      // What the payment was told stands in its own stream: no row shows both.
      owed: BY_ROW,
    }),
    job(remindOfDeadline, {
      handler: (needs: DisputesNeeds) => each(recordNearDeadline(needs)),
      places: PLACES,
      idle: 'apart',
      owed: owedBy(overdueReminders, ({ tenant, caseId }) => ({ tenant, payload: { caseId } })),
    }),
    job(mailCase, {
      handler: (needs: DisputesNeeds) => each(sendCaseMail(needs)),
      // A mail server may be slow.
      places: { places: 4, perTarget: 4 },
      idle: 'apart',
      owed: BY_ROW,
    }),
    job(sweepEvidence, {
      handler: (needs: DisputesNeeds) => each(removeUnconfirmed(needs)),
      // Storage that is away is waited for, and nobody waits for this.
      places: { places: 4, perTarget: 4 },
      idle: 'apart',
      // That a file is there still shows in no row.
      owed: BY_ROW,
    }),
  ],
  gauges: [
    {
      name: 'open_dispute_cases',
      help: 'Dispute cases that have not ended.',
      read: ({ cases }) => cases.countUnderWay(),
    },
    {
      name: 'dispute_cases_past_deadline',
      help: 'Open dispute cases whose response deadline has passed, by the account’s own time.',
      read: ({ cases }) => cases.countPastDeadline(),
    },
    {
      name: 'dispute_cases_waiting',
      help: 'Dispute cases that wait for an operator (`med review list`).',
      read: ({ cases }) => cases.countWaiting(),
    },
  ],
};
