// An upload that was not confirmed within a day of account time is no evidence: its file goes (rule Q6).
import { findEvidence } from '../../domain/dispute/evidence.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { EvidenceId, MedCaseId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS } from '../../domain/kernel/time.ts';
import { MED_CASE } from '../core/aggregates.ts';
import { timedKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { clearTimer, ignoring, processManager, setTimer } from '../core/reactions.ts';
import type { EvidenceStorage } from '../ports/evidenceStorage.ts';
import type { PayloadOf } from '../ports/jobs.ts';

export const sweepEvidence = timedKind({
  name: 'sweepEvidence',
  payload: payloadOf({ caseId: idOf<MedCaseId>(), evidenceId: idOf<EvidenceId>() }),
  subjectOf: ({ evidenceId }) => evidenceId,
});

const fileOf = (logged: {
  readonly subject: string;
  readonly event: { readonly data: { evidenceId: EvidenceId } };
}) => ({
  caseId: logged.subject as MedCaseId,
  evidenceId: logged.event.data.evidenceId,
});

export const evidenceSweep = processManager({
  name: 'evidenceSweep',
  movesMoney: false,
  reactions: {
    medCase: {
      MedCaseEvidenceGranted: (logged) => [
        setTimer(sweepEvidence, fileOf(logged), logged, addMillis(logged.event.data.at, DAY_MS)),
      ],
      MedCaseEvidenceConfirmed: (logged) => [clearTimer(sweepEvidence, fileOf(logged))],
      ...ignoring(
        'MedCaseOpened',
        'MedCaseEvidenceRequested',
        'MedCaseDeadlineNeared',
        'MedCaseAppealed',
        'MedCaseAccepted',
        'MedCaseReviewRequested',
        'MedCaseReviewApproved',
        'MedCaseReviewRefused',
        'MedCaseRejected',
        'MedCaseClosed',
      ),
    },
  },
});

/** Removes the file, unless it was confirmed. A grant has expired long before its timer is due, so nobody can confirm it meanwhile. */
export const removeUnconfirmed =
  ({ commands, evidence }: { readonly commands: CommandHandler; readonly evidence: EvidenceStorage }) =>
  async ({ caseId, evidenceId }: PayloadOf<typeof sweepEvidence>): Promise<void> => {
    const { state } = await commands.load(MED_CASE, streamName.medCase(caseId));
    if (state.status === 'absent' || findEvidence(state, evidenceId) !== null) return;
    const { accountId, mode } = state.terms;
    await evidence.remove({ accountId, mode, evidenceId });
  };
