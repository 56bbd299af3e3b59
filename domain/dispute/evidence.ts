// The merchant's evidence files of a case. Only confirmed files are recorded as events; grants and uploads are operational data.
import type { Decision } from '../kernel/decider.ts';
import type { EvidenceId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { type Evidence, isUnderWay, type MedCaseEvent, type MedCaseState } from './medCase.ts';

/** Maximum number of confirmed files per case. */
export const EVIDENCE_MAX = 20;

const NO_CASE = reject('not_found', 'There is no such case.');
const ENDED = reject('case_not_open', 'This case has ended and accepts no further evidence.');

const FULL = reject('evidence_limit_reached', `The case has ${EVIDENCE_MAX} files, the maximum.`);

/**
 * Returns why the case accepts no further file, or null if it does. Checks in order: the case (`not_found`, `case_not_open`), then the
 * number of confirmed files (`evidence_limit_reached`).
 */
export const evidenceRefusal = (state: MedCaseState): Rejection | null => {
  if (state.status === 'absent') return NO_CASE;
  if (!isUnderWay(state)) return ENDED;
  return state.evidence.length < EVIDENCE_MAX ? null : FULL;
};

/**
 * Confirms an uploaded file that was checked against its grant. No-op if it is already confirmed. Checks in order: the case exists
 * (`not_found`), already confirmed, the case is open (`case_not_open`), the number of files (`evidence_limit_reached`).
 */
export const confirmEvidence =
  (evidence: Evidence): Decision<MedCaseState, MedCaseEvent, Evidence> =>
  (state) => {
    const before = findEvidence(state, evidence.evidenceId);
    if (before !== null) return { events: [], reply: before };
    const refusal = evidenceRefusal(state);
    return refusal ?? { events: [{ type: 'MedCaseEvidenceConfirmed', data: evidence }], reply: evidence };
  };

/** Returns the confirmed file with this name and content, or null. */
export const findSameFile = (
  state: MedCaseState,
  { fileName, sha256 }: Pick<Evidence, 'fileName' | 'sha256'>,
): Evidence | null =>
  state.status === 'absent'
    ? null
    : (state.evidence.find((one) => one.fileName === fileName && one.sha256 === sha256) ?? null);

/** Like `confirmEvidence`, but no-op if the case has a file with the same name and content. Replies with that file. */
export const confirmOnce =
  (evidence: Evidence): Decision<MedCaseState, MedCaseEvent, Evidence> =>
  (state) => {
    const same = findSameFile(state, evidence);
    return same === null ? confirmEvidence(evidence)(state) : { events: [], reply: same };
  };

/** Returns the confirmed file, or null if no such id exists. */
export const findEvidence = (state: MedCaseState, id: EvidenceId): Evidence | null =>
  state.status === 'absent' ? null : (state.evidence.find(({ evidenceId }) => evidenceId === id) ?? null);
