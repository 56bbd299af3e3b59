// Evidence in an S3-compatible storage: merchants send to it directly, by presigned URLs. A presigned URL may be used again while it
// lives, so what counts is a copy that was taken when the file was first read. A presigned URL shows its object's key, so keys of
// uploads are hashes that tell nothing of the account.
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import {
  type EvidenceRef,
  type EvidenceStorage,
  EvidenceStorageUnavailable,
  type EvidenceUpload,
  type OpenedFile,
} from '../../application/ports/evidenceStorage.ts';
import { EVIDENCE_BYTES_MAX } from '../../domain/dispute/evidenceFile.ts';
import { openedFile } from './openedFile.ts';

export interface S3Location {
  readonly bucket: string;
  /** Of the keys; empty, or with a slash at its end. */
  readonly prefix: string;
  /** null: as the AWS client finds them in the environment. */
  readonly region: string | null;
  readonly endpoint: string | null;
}

/** Of all but the file itself; a storage that is silent for so long is away. */
const ANSWER_MS = 10_000;
/** More than views of all accounts as a rule take: a client that reads slowly holds one, and must not keep others from the storage. */
const SOCKETS_MAX = 512;
/** A merchant may send something larger where the storage does not look at the size: as much is read as proves that. */
const BYTES_READ_MAX = EVIDENCE_BYTES_MAX + 1;

export class S3EvidenceStorage implements EvidenceStorage {
  readonly #client: S3Client;
  readonly #at: S3Location;

  constructor(at: S3Location) {
    this.#at = at;
    this.#client = new S3Client({
      ...(at.region !== null && { region: at.region }),
      // Other storages than Amazon's seldom have a host name for each bucket.
      ...(at.endpoint !== null && { endpoint: at.endpoint, forcePathStyle: true }),
      // A checksum of the body would be bound, too, which nobody knows before it is sent.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: ANSWER_MS,
        requestTimeout: ANSWER_MS,
        httpAgent: { maxSockets: SOCKETS_MAX },
        httpsAgent: { maxSockets: SOCKETS_MAX },
      },
    });
  }

  async uploadUrl(upload: EvidenceUpload, seconds: number): Promise<string> {
    // Signing asks nobody: a merchant would learn from the storage that it is away.
    await this.#answered(this.#client.send(new HeadBucketCommand({ Bucket: this.#at.bucket })));
    const put = new PutObjectCommand({
      ...this.#object('uploads', upload),
      ContentType: upload.contentType,
      ContentLength: upload.size,
    });
    const signableHeaders = new Set(['host', 'content-type', 'content-length']);
    return getSignedUrl(this.#client, put, { expiresIn: seconds, signableHeaders });
  }

  async read(of: EvidenceRef): Promise<Buffer | null> {
    const kept = await this.#get('files', of);
    if (kept !== null) return kept;
    const sent = await this.#get('uploads', of);
    if (sent === null) return null;
    await this.#answered(this.#client.send(new PutObjectCommand({ ...this.#object('files', of), Body: sent })));
    return sent;
  }

  async open(of: EvidenceRef): Promise<OpenedFile | null> {
    try {
      const { Body, ContentLength } = await this.#client.send(new GetObjectCommand(this.#object('files', of)));
      return openedFile(ContentLength ?? 0, Body as Readable);
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw away(error);
    }
  }

  async remove(of: EvidenceRef): Promise<void> {
    for (const folder of ['uploads', 'files'] as const)
      await this.#answered(this.#client.send(new DeleteObjectCommand(this.#object(folder, of))));
  }

  close(): void {
    this.#client.destroy();
  }

  #object(folder: 'uploads' | 'files', { accountId, evidenceId }: EvidenceRef) {
    const path = `${accountId}/${evidenceId}`;
    const name = folder === 'files' ? path : hash('sha256', path, 'base64url');
    return { Bucket: this.#at.bucket, Key: `${this.#at.prefix}${folder}/${name}` };
  }

  async #get(folder: 'uploads' | 'files', of: EvidenceRef): Promise<Buffer | null> {
    const range = `bytes=0-${BYTES_READ_MAX - 1}`;
    try {
      const { Body } = await this.#client.send(new GetObjectCommand({ ...this.#object(folder, of), Range: range }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      // Of an empty object there is no range.
      if ((error as Error).name === 'InvalidRange') return Buffer.alloc(0);
      throw away(error);
    }
  }

  async #answered<T>(sent: Promise<T>): Promise<T> {
    try {
      return await sent;
    } catch (error) {
      throw away(error);
    }
  }
}

const away = (cause: unknown): EvidenceStorageUnavailable =>
  new EvidenceStorageUnavailable('the evidence storage gave an unexpected answer', { cause });
