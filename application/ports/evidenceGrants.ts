// Upload grants, kept until their files are confirmed or removed. Operational data, shared by all processes. If it is lost, merchants need
// a new grant, but no fact is lost.
import type { DeclaredFile } from '../../domain/dispute/evidenceFile.ts';
import type { AccountId, EvidenceId, MedCaseId } from '../../domain/kernel/ids.ts';
import type { Rejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EvidenceRef } from './evidenceStorage.ts';

export interface EvidenceGrant extends EvidenceRef, DeclaredFile {
  readonly caseId: MedCaseId;
  /** When the grant was made, in account time. `expiresAt`: until when a file may be uploaded, in account time. */
  readonly at: Timestamp;
  readonly expiresAt: Timestamp;
  /** The same limit in real time. */
  readonly endsAt: Timestamp;
}

/** The result of checking an uploaded file: its SHA-256 (64 hex digits), or why it is rejected. */
export type EvidenceVerdict = { readonly sha256: string } | Rejection;

export interface KeptGrant extends EvidenceGrant {
  /** null: no file was checked yet. */
  readonly verdict: EvidenceVerdict | null;
  /** Whether the file was removed or is about to be. */
  readonly isRemoved: boolean;
}

/** Limits of an account in one mode (E9). */
export interface GrantLimits {
  /** Number of open grants of a case: those that are not confirmed, refused or expired. */
  readonly openOfCase: number;
  /** Bytes of unconfirmed files, counted from the grant until the removal. */
  readonly unconfirmedBytes: number;
}
type GrantOutcome =
  | 'granted'
  | { readonly reached: keyof GrantLimits /** Until a grant may end. */; readonly retrySeconds: number };

/** An upload in progress. */
interface UploadClaim {
  /** Ends the claim. Returns false if the grant ended in the meantime; the file must be removed then. */
  end(): Promise<boolean>;
}

export interface EvidenceGrants {
  /** Adds a grant unless a limit is reached. A lock keeps concurrent grants from exceeding a limit. `now`: real time. */
  add(grant: EvidenceGrant, limits: GrantLimits, now: Timestamp): Promise<GrantOutcome>;
  find(evidenceId: EvidenceId): Promise<KeptGrant | null>;
  /** Claims the upload. Returns null if there is no such grant or its file was checked or removed; 'busy' during another upload. */
  beginUpload(evidenceId: EvidenceId): Promise<UploadClaim | 'busy' | null>;
  /** Lets one process at a time check files of the account. Returns a function that ends the turn, or null while another process checks. */
  beginJudging(accountId: AccountId): Promise<(() => Promise<void>) | null>;
  /** Sets the size of a file whose form declared none. It was granted the largest one. */
  setSize(evidenceId: EvidenceId, fileSize: number): Promise<void>;
  keepVerdict(evidenceId: EvidenceId, verdict: EvidenceVerdict): Promise<void>;
  /** Returns the grants of these cases, by the ids of their files. */
  ofCases(caseIds: readonly MedCaseId[]): Promise<readonly EvidenceId[]>;
  /** Removes a grant whose file was confirmed. */
  forget(evidenceId: EvidenceId): Promise<void>;
  /**
   * Returns up to `limit` grants that ended before `before`, in that order, whose file is neither removed nor being uploaded. `after`: the
   * end of the previous page, or null.
   */
  ended(
    before: Timestamp,
    limit: number,
    after: Pick<KeptGrant, 'endsAt' | 'evidenceId'> | null,
  ): Promise<readonly KeptGrant[]>;
  /** Marks the file as removed, so that it no longer counts towards limits. The grant is kept until `forgetEnded`. */
  markRemoved(evidenceId: EvidenceId): Promise<void>;
  forgetEnded(before: Timestamp): Promise<void>;
  /** Ends the uploads and checks of a killed process. Call it only if no other process uses the database. */
  releaseAll(): Promise<void>;
}

interface FileToJudge extends Pick<DeclaredFile, 'fileSize' | 'mimeType'> {
  /** Reads the file; called when it is this file's turn. */
  readonly read: () => Promise<Buffer | null>;
}
/** Checks a file outside the main thread. Returns null if there is no file. Throws EvidenceStorageUnavailable, and errors of `read`. */
export type JudgeEvidence = (file: FileToJudge) => Promise<EvidenceVerdict | null>;
