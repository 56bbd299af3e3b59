// Evidence in an S3-compatible storage. Merchants upload to it directly, with presigned URLs. A presigned URL can be used again until it
// expires, so the first read takes a copy, and only the copy counts. A presigned URL shows its object's key, so upload keys are hashes
// that reveal nothing about the account.
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
  type StoredFile,
} from '../../application/ports/evidenceStorage.ts';
import { EVIDENCE_BYTES_MAX } from '../../domain/dispute/evidenceFile.ts';
import { openedFile } from './openedFile.ts';

export interface S3Location {
  readonly bucket: string;
  /** Prefix of the keys: empty, or with a trailing slash. */
  readonly prefix: string;
  /** null: the AWS client reads region and endpoint from the environment. */
  readonly region: string | null;
  readonly endpoint: string | null;
}

/** Timeout for connecting and for an answer's start, in milliseconds. */
const ANSWER_MS = 10_000;
/** More than all accounts' views usually need, so that slow readers, each of which holds a socket, don't block others. */
const SOCKETS_MAX = 512;
/** A storage that ignores the declared size may hold a larger file. One byte more than allowed is enough to detect that. */
const BYTES_READ_MAX = EVIDENCE_BYTES_MAX + 1;

export class S3EvidenceStorage implements EvidenceStorage {
  readonly #client: S3Client;
  readonly #at: S3Location;

  constructor(at: S3Location) {
    this.#at = at;
    this.#client = new S3Client({
      ...(at.region !== null && { region: at.region }),
      // Storages other than Amazon's rarely have a host name per bucket.
      ...(at.endpoint !== null && { endpoint: at.endpoint, forcePathStyle: true }),
      // A checksum would become part of the signature, but the body is not known yet.
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
    // Signing needs no request, so this one checks that the storage is available before the merchant gets the URL.
    await this.#answered(this.#client.send(new HeadBucketCommand({ Bucket: this.#at.bucket })));
    const put = new PutObjectCommand({
      ...this.#object('uploads', upload),
      ContentType: upload.contentType,
      ContentLength: upload.size,
    });
    const signableHeaders = new Set(['host', 'content-type', 'content-length']);
    return getSignedUrl(this.#client, put, { expiresIn: seconds, signableHeaders });
  }

  /** The storage needs the size first, so the file is held in memory until its end. */
  async take(upload: EvidenceUpload, body: AsyncIterable<Uint8Array>): Promise<StoredFile | null> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > upload.size) return null;
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    const put = { ...this.#object('uploads', upload), ContentType: upload.contentType, Body: bytes };
    await this.#answered(this.#client.send(new PutObjectCommand(put)));
    return { sha256: hash('sha256', bytes, 'hex'), size };
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
      // An empty object has no range.
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
