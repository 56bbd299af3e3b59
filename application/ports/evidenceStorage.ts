// Where the files lie that merchants add to dispute cases (rule Q6). Storage knows nothing of cases: it takes one upload for each grant,
// and gives back what arrived.
import type { EvidenceId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Tenant } from './paymentProvider.ts';

export interface EvidenceRef extends Tenant {
  readonly evidenceId: EvidenceId;
}

/** What may be sent, once. */
export interface EvidenceUpload extends EvidenceRef {
  readonly contentType: string;
  /** The exact size, in bytes. */
  readonly size: number;
  /** In account time. */
  readonly expiresAt: Timestamp;
}

/** It does not answer, or has no room: nothing is half done, and a repeat is safe. */
export class EvidenceStorageUnavailable extends Error {
  override name = 'EvidenceStorageUnavailable';
}

export interface OpenedFile {
  /** In bytes. */
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  close(): void;
}

/** All of it throws EvidenceStorageUnavailable. */
export interface EvidenceStorage {
  /**
   * Returns the URL to which a PUT with just this type and size may be sent for so many real seconds; storage refuses any other one. Asked
   * only while the storage answers: it throws otherwise.
   */
  uploadUrl(upload: EvidenceUpload, seconds: number): Promise<string>;
  /**
   * Returns what arrived, whole; null: nothing has. From its first reading on a file stays as it is, whatever is sent to its URL. That
   * nobody damaged the storage itself is not promised: whoever reads compares.
   */
  read(of: EvidenceRef): Promise<Buffer | null>;
  /**
   * Returns a file that was read before, of which a part at a time is in memory; null if there is no such file. The caller must close it.
   */
  open(of: EvidenceRef): Promise<OpenedFile | null>;
  /** What arrived is gone, and what was cut off on its way. Not there: nothing. */
  remove(of: EvidenceRef): Promise<void>;
  close(): void;
}

/** What somebody sends to an upload URL of this service. */
export interface SentEvidence {
  readonly evidenceId: EvidenceId;
  /** The credential in the URL. */
  readonly token: string;
  readonly contentType: string | null;
  /** As the request declares it; null: it does not. */
  readonly size: number | null;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The side of a storage of this service's own that the outside sends to. */
export interface EvidenceReceiver {
  /** Returns what the URL was granted for; null if it is not for this type and size, or has expired. Reads nothing of the body. */
  accept(sent: SentEvidence): Promise<EvidenceUpload | null>;
  /**
   * Returns the file's SHA-256 (64 hex digits) when it is on disk, for good; null if the grant was used or expired, or the size differs. A
   * refused or interrupted upload leaves nothing, and the grant as it was. Throws what the body throws, and EvidenceStorageUnavailable.
   */
  store(upload: EvidenceUpload, body: SentEvidence['body']): Promise<string | null>;
}

/** What a link to a file is for. */
export interface EvidenceView extends Omit<EvidenceUpload, 'expiresAt'> {
  readonly fileName: string;
  /** Of the file, 64 hex digits. */
  readonly sha256: string;
}

/** Links to files, which this service itself answers, wherever they lie: so it is this service that says how a browser treats them. */
export interface EvidenceLinks {
  /** Returns the URL, good for so many real seconds. */
  urlFor(method: 'GET', view: EvidenceView, seconds: number): Promise<string>;
  /** Returns what the token in a link is for; null when it is none for this file now. */
  read(method: 'GET', evidenceId: EvidenceId, token: string): Promise<EvidenceView | null>;
}
