// Grants of uploads until their files are confirmed or removed: operational data, shared by all processes. Losing it costs merchants a
// new grant, and no fact.
import type { DeclaredFile } from '../../domain/dispute/evidenceFile.ts';
import type { AccountId, EvidenceId, MedCaseId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EvidenceRef } from './evidenceStorage.ts';

export interface EvidenceGrant extends EvidenceRef, DeclaredFile {
  readonly caseId: MedCaseId;
  /** When it was granted and until when a file may be sent, in account time. */
  readonly at: Timestamp;
  readonly expiresAt: Timestamp;
  /** Until when a file may be sent, in real time. */
  readonly endsAt: Timestamp;
}

/** What a look at the uploaded file showed: its SHA-256 (64 hex digits), or why it is no evidence. */
export type EvidenceVerdict = { readonly sha256: string } | Rejection;

export interface KeptGrant extends EvidenceGrant {
  /** null: no file was judged yet. */
  readonly verdict: EvidenceVerdict | null;
  /** The file was removed, or is about to be. */
  readonly isRemoved: boolean;
}

/** Limits of an account in one mode (E9). */
export interface GrantLimits {
  /** Open grants of a case: not confirmed, refused or expired. */
  readonly openOfCase: number;
  /** Bytes of files that are not confirmed, from their grant until their removal. */
  readonly unconfirmedBytes: number;
}
type GrantOutcome =
  | 'granted'
  | { readonly reached: keyof GrantLimits /** Until a grant may end. */; readonly retrySeconds: number };

/** One upload on its way. */
interface UploadClaim {
  /** Ends the claim. Returns false if the grant ended meanwhile, so that the file must go. */
  end(): Promise<boolean>;
}

export interface EvidenceGrants {
  /** Adds a grant unless a limit is reached. Decides under a lock: simultaneous grants can't exceed a limit. `now`: real time. */
  add(grant: EvidenceGrant, limits: GrantLimits, now: Timestamp): Promise<GrantOutcome>;
  find(evidenceId: EvidenceId): Promise<KeptGrant | null>;
  /** Returns null if there is no such grant, or its file was judged or removed; 'busy' while another upload to it is on its way. */
  beginUpload(evidenceId: EvidenceId): Promise<UploadClaim | 'busy' | null>;
  /** Lets one process at a time judge files of the account. Returns null while another one does; otherwise how to end. */
  beginJudging(accountId: AccountId): Promise<(() => Promise<void>) | null>;
  keepVerdict(evidenceId: EvidenceId, verdict: EvidenceVerdict): Promise<void>;
  /** Forgets a grant: its file was confirmed. */
  forget(evidenceId: EvidenceId): Promise<void>;
  /** Returns up to `limit` grants that ended before `before`, whose file is not removed and not on its way. */
  ended(before: Timestamp, limit: number): Promise<readonly KeptGrant[]>;
  /** Counts the file for no limit any more. The grant itself stays known until `forgetEnded`. */
  markRemoved(evidenceId: EvidenceId): Promise<void>;
  forgetEnded(before: Timestamp): Promise<void>;
  /** Ends what a process that was killed had begun. Only for a process that is alone on its database. */
  releaseAll(): Promise<void>;
}

interface FileToJudge extends Pick<DeclaredFile, 'fileSize' | 'mimeType'> {
  /** Called when it is this file's turn. */
  readonly read: () => Promise<Buffer | null>;
}
/** Judges a file outside the main thread. Returns null if there is no file. Throws EvidenceStorageUnavailable, and what `read` throws. */
export type JudgeEvidence = (file: FileToJudge) => Promise<EvidenceVerdict | null>;
