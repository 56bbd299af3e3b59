// Copies each step of a case to its payment, in order and once. There it moves the held money, shows in the charge and is published
// (ADR 0011).

import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import { caseChange } from '../../domain/dispute/snapshot.ts';
import type { MedCaseId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { recordCaseStep } from '../../domain/payment/dispute.ts';
import { exists } from '../../domain/payment/payment.ts';
import { moneyOfCase } from '../../domain/transaction/disputes.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { enqueue, nothing, processManager, reacting } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';

export const tellPayment = jobKind({
  name: 'tellPayment',
  payload: payloadOf({ caseId: idOf<MedCaseId>() }),
  subjectOf: ({ caseId }) => caseId,
});

const tell = ({ subject }: { readonly subject: string }) => [enqueue(tellPayment, { caseId: subject as MedCaseId })];

export const caseTelling = processManager({
  name: 'caseTelling',
  movesMoney: true,
  from: 'beginning',
  reactions: {
    medCase: reacting(MED_CASE.groups, {
      reads: {
        MedCaseOpened: tell,
        MedCaseEvidenceRequested: tell,
        MedCaseAppealed: tell,
        MedCaseAccepted: tell,
        MedCaseRejected: tell,
        MedCaseClosed: tell,
        MedCaseSettled: tell,
        MedCaseLateReported: tell,
        MedCaseMoneyReturned: tell,
        MedCaseReportNotTaken: nothing,
        MedCaseReportDismissed: nothing,
      },
      ignores: ['deadline', 'evidence', 'review', 'erasure'],
    }),
  },
});

/** Records all missing steps of the case in the payment. Idempotent, also when run concurrently. */
export const tellPaymentOf =
  ({ commands }: { readonly commands: CommandHandler }) =>
  async ({ caseId }: PayloadOf<typeof tellPayment>): Promise<void> => {
    const { state } = await commands.load(MED_CASE, MED_CASE.stream(caseId));
    if (state.status === 'absent') return;
    const { paymentId } = state.terms;
    const stream = PAYMENT.stream(paymentId);
    const { state: payment } = await commands.load(PAYMENT, stream);
    if (!exists(payment) || payment.transaction.status !== 'settled') return;
    const known = moneyOfCase(payment.transaction.dispute, caseId);
    if (known === null) return;
    for await (const { event, after, revision } of commands.loadSteps(MED_CASE, MED_CASE.stream(caseId))) {
      const change = caseChange(event);
      if (change === null || revision <= known.revision) continue;
      const step = { revision, change, medCase: after as MedCase, at: event.data.at };
      const metadata = metadataForProcess('caseTelling', state.terms, paymentId, caseId);
      await commands.record(PAYMENT, stream, recordCaseStep(step), metadata);
    }
  };
