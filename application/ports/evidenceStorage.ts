// Storage of the files that merchants add to dispute cases (rule Q6). It knows nothing about cases: it accepts one upload for each grant
// and returns the uploaded file.
import type { EvidenceId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

export interface EvidenceRef extends Tenant {
  readonly evidenceId: EvidenceId;
}

/** A permitted upload, which can be used once. */
export interface EvidenceUpload extends EvidenceRef {
  readonly contentType: string;
  /** The exact size, in bytes. */
  readonly size: number;
  /** In account time. */
  readonly expiresAt: Timestamp;
}

/** The storage does not respond or is full. The operation had no effect, and a retry is safe. */
export class EvidenceStorageUnavailable extends Error {
  override name = 'EvidenceStorageUnavailable';
}

/** A file as it was stored. */
export interface StoredFile {
  /** 64 hex digits. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

export interface OpenedFile {
  /** In bytes. */
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  close(): void;
}

/** All methods throw EvidenceStorageUnavailable. */
export interface EvidenceStorage {
  /**
   * Returns a URL that accepts a PUT with exactly this type and size for this many real seconds. Storage rejects all other requests.
   * Throws if the storage does not respond.
   */
  uploadUrl(upload: EvidenceUpload, seconds: number): Promise<string>;
  /**
   * Stores a file that came to this service itself, in a form. Returns null if it is larger than the upload permits, or the upload has
   * expired or was used. A refused or interrupted file leaves nothing. Also throws errors of the body.
   */
  take(upload: EvidenceUpload, body: AsyncIterable<Uint8Array>): Promise<StoredFile | null>;
  /**
   * Returns the whole uploaded file, or null if nothing was uploaded. After the first read, later uploads to its URL don't change the file.
   * Damage to the storage itself is not detected, so the reader must compare the hash.
   */
  read(of: EvidenceRef): Promise<Buffer | null>;
  /**
   * Opens a file that was read before, for streaming. Returns null if there is no such file; an unread one that a later upload could
   * change counts as absent. The caller must close it.
   */
  open(of: EvidenceRef): Promise<OpenedFile | null>;
  /** Removes the uploaded file and any interrupted upload. No-op if nothing was uploaded. */
  remove(of: EvidenceRef): Promise<void>;
  close(): void;
}

/** A request to an upload URL of this service. */
export interface SentEvidence {
  readonly evidenceId: EvidenceId;
  /** The credential in the URL. */
  readonly token: string;
  readonly contentType: string | null;
  /** The declared size in bytes; null: not declared. */
  readonly size: number | null;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Receives uploads, if this service stores the files itself. */
export interface EvidenceReceiver {
  /** Returns the granted upload, or null if the URL has expired or was granted for another type or size. Does not read the body. */
  accept(sent: SentEvidence): Promise<EvidenceUpload | null>;
  /**
   * Stores the file durably and returns its SHA-256 (64 hex digits), or null if the grant was used or has expired, or the size differs. A
   * refused or interrupted upload leaves no file and does not use up the grant. Throws EvidenceStorageUnavailable, and errors of the body.
   */
  store(upload: EvidenceUpload, body: SentEvidence['body']): Promise<string | null>;
}

/** The content of a link to a file. */
export interface EvidenceView extends Omit<EvidenceUpload, 'expiresAt'> {
  readonly fileName: string;
  /** SHA-256 of the file, 64 hex digits. */
  readonly sha256: string;
}

/** Links to files. This service serves them itself, wherever they are stored, so that it controls the response headers. */
export interface EvidenceLinks {
  /** Returns the URL, valid for this many real seconds. */
  urlFor(method: 'GET', view: EvidenceView, seconds: number): Promise<string>;
  /** Returns the content of a link's token, or null if the token is invalid for this file or has expired. */
  read(method: 'GET', evidenceId: EvidenceId, token: string): Promise<EvidenceView | null>;
}
