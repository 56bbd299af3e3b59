// Files that a merchant adds to a case. Only a confirmed file is a fact: grants and uploads before it are operational data.
import type { Decision } from '../kernel/decider.ts';
import type { EvidenceId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import { type Evidence, isUnderWay, type MedCaseEvent, type MedCaseState } from './medCase.ts';

/** Confirmed files of a case, at most. */
export const EVIDENCE_MAX = 20;

const NO_CASE = reject('not_found', 'There is no such case.');
const ENDED = reject('case_not_open', 'This case has ended: it takes no evidence any more.');

const FULL = reject('evidence_limit_reached', `The case has ${EVIDENCE_MAX} files, which is the most it takes.`);

/**
 * Returns why the case takes no further file, or null if it does. Order of the checks: the case (`not_found`, `case_not_open`), then how
 * many confirmed files it has (`evidence_limit_reached`).
 */
export const evidenceRefusal = (state: MedCaseState): Rejection | null => {
  if (state.status === 'absent') return NO_CASE;
  if (!isUnderWay(state)) return ENDED;
  return state.evidence.length < EVIDENCE_MAX ? null : FULL;
};

/**
 * The uploaded file was looked at, and is what was granted. Confirmed before: the same evidence. Order of the checks: the case
 * (`not_found`), confirmed before, the case again (`case_not_open`), how many files it has (`evidence_limit_reached`).
 */
export const confirmEvidence =
  (evidence: Evidence): Decision<MedCaseState, MedCaseEvent, Evidence> =>
  (state) => {
    const before = findEvidence(state, evidence.evidenceId);
    if (before !== null) return { events: [], reply: before };
    const refusal = evidenceRefusal(state);
    return refusal ?? { events: [{ type: 'MedCaseEvidenceConfirmed', data: evidence }], reply: evidence };
  };

/** Returns the confirmed file, or null if there is none with this id. */
export const findEvidence = (state: MedCaseState, id: EvidenceId): Evidence | null =>
  state.status === 'absent' ? null : (state.evidence.find(({ evidenceId }) => evidenceId === id) ?? null);
