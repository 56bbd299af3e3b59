// Reminds the merchant one day before the deadline of a case (Q2). A missed deadline changes nothing.
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { nearDeadline } from '../../domain/dispute/decisions.ts';
import { medCase, reminderAt } from '../../domain/dispute/medCase.ts';
import type { MedCaseId } from '../../domain/kernel/ids.ts';
import { idOf, payloadOf, timedKind } from '../core/capability.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { clearTimer, nothing, processManager, reacting, setTimer } from '../core/reactions.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { PayloadOf } from '../ports/jobs.ts';

export const remindOfDeadline = timedKind({
  name: 'remindOfDeadline',
  payload: payloadOf({ caseId: idOf<MedCaseId>() }),
  subjectOf: ({ caseId }) => caseId,
});

const caseOf = ({ subject }: { readonly subject: string }) => ({ caseId: subject as MedCaseId });
const answered = (logged: { readonly subject: string }) => [clearTimer(remindOfDeadline, caseOf(logged))];

export const caseDeadlines = processManager({
  name: 'caseDeadlines',
  movesMoney: false,
  from: 'beginning',
  reactions: {
    medCase: reacting(MED_CASE.groups, {
      reads: {
        MedCaseOpened: (logged) => {
          const at = reminderAt(medCase.evolve(medCase.initial, logged.event));
          return at === null ? [] : [setTimer(remindOfDeadline, caseOf(logged), logged, at)];
        },
        MedCaseAppealed: answered,
        MedCaseAccepted: answered,
        MedCaseRejected: answered,
        MedCaseClosed: answered,
        // If a part is held, the case continues as an ordinary case, with its deadline.
        MedCaseSettled: (logged) => (logged.event.data.verdict === 'held' ? [] : answered(logged)),
        MedCaseEvidenceRequested: nothing,
      },
      ignores: ['deadline', 'evidence', 'review', 'reports', 'erasure'],
    }),
  },
});

/** Records that the deadline is near. No-op if it is too early, or if the case was answered or the merchant already reminded. */
export const recordNearDeadline =
  ({ commands, accounts }: UseCaseNeeds) =>
  async ({ caseId }: PayloadOf<typeof remindOfDeadline>): Promise<void> => {
    const stream = MED_CASE.stream(caseId);
    const { state } = await commands.load(MED_CASE, stream);
    const dueAt = reminderAt(state);
    if (state.status === 'absent' || dueAt === null) return;
    const { accountId, mode, paymentId } = state.terms;
    const at = await accounts.actingAt(accountId, mode, dueAt);
    const metadata = metadataForProcess('caseDeadlines', state.terms, paymentId, caseId);
    await commands.record(MED_CASE, stream, nearDeadline(at), metadata);
  };
