// Files that a merchant adds to a case: granted, uploaded, confirmed. What was never confirmed does not exist for the API.
import type { Decision } from '../kernel/decider.ts';
import type { EvidenceId } from '../kernel/ids.ts';
import { type Rejection, reject } from '../kernel/rejection.ts';
import type { Timestamp } from '../kernel/time.ts';
import { isUnderWay, type MedCase, type MedCaseEvent, type MedCaseState } from './medCase.ts';

/** Confirmed files of a case, at most. */
export const EVIDENCE_MAX = 20;

interface EvidenceFile {
  readonly evidenceId: EvidenceId;
  readonly fileName: string;
  /** In bytes, from 1. */
  readonly fileSize: number;
  readonly mimeType: string;
  readonly uploadedBy: 'merchant' | 'partner' | 'platform';
}
/** `at`: when it was granted. */
export interface EvidenceGrant extends EvidenceFile {
  readonly expiresAt: Timestamp;
  readonly at: Timestamp;
}
/** `at`: when it was confirmed. */
export interface Evidence extends EvidenceFile {
  /** Of the file, 64 hex digits. */
  readonly sha256: string;
  /** When it was granted. */
  readonly grantedAt: Timestamp;
  readonly at: Timestamp;
}

const NO_CASE = reject('not_found', 'There is no such case.');
const ENDED = reject('case_not_open', 'This case has ended: it takes no evidence any more.');

const FULL = reject('evidence_limit_reached', `The case has ${EVIDENCE_MAX} files, which is the most it takes.`);

/** Why the case takes no further file; null when it does. */
const notTaken = (state: MedCaseState): Rejection | null => {
  if (state.status === 'absent') return NO_CASE;
  if (!isUnderWay(state)) return ENDED;
  return state.evidence.length < EVIDENCE_MAX ? null : FULL;
};

/**
 * Order of the checks: the case (`not_found`, `case_not_open`), then how many files it has (`evidence_limit_reached`: grants do not count).
 * Granted before: nothing.
 */
export const grantEvidence =
  (grant: EvidenceGrant): Decision<MedCaseState, MedCaseEvent, EvidenceGrant> =>
  (state) => {
    const refusal = notTaken(state);
    if (refusal !== null) return refusal;
    const before = findGrant(state, grant.evidenceId);
    return before === null
      ? { events: [{ type: 'MedCaseEvidenceGranted', data: grant }], reply: grant }
      : { events: [], reply: before };
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
    const refusal = notTaken(state);
    return refusal ?? { events: [{ type: 'MedCaseEvidenceConfirmed', data: evidence }], reply: evidence };
  };

/** Returns the grant, as long as it is neither confirmed nor dropped; null otherwise. */
export const findGrant = (state: MedCaseState, id: EvidenceId): EvidenceGrant | null =>
  find<EvidenceGrant>(state, ({ grants }) => grants, id);
/** Returns the confirmed file; null when there is none such. */
export const findEvidence = (state: MedCaseState, id: EvidenceId): Evidence | null =>
  find<Evidence>(state, ({ evidence }) => evidence, id);

const find = <One extends EvidenceFile>(
  state: MedCaseState,
  of: (medCase: MedCase) => readonly One[],
  id: EvidenceId,
) => (state.status === 'absent' ? null : (of(state).find(({ evidenceId }) => evidenceId === id) ?? null));
