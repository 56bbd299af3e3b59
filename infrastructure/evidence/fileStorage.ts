// Evidence as files of this service, for one machine. A file appears under its final name once, when it is complete and on disk. Its
// presence marks the grant as used.
import { createHash } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type EvidenceReceiver,
  type EvidenceRef,
  type EvidenceStorage,
  EvidenceStorageUnavailable,
  type EvidenceUpload,
  type OpenedFile,
  type SentEvidence,
  type StoredFile,
} from '../../application/ports/evidenceStorage.ts';
import type { Randomness } from '../../application/ports/system.ts';
import type { Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EvidenceTokens } from './evidenceTokens.ts';
import { openedFile } from './openedFile.ts';

interface FileStorageNeeds {
  /** Files are in `<folder>/<account>/<evidence>`, running uploads in `<folder>/incoming/…`. */
  readonly folder: string;
  readonly tokens: EvidenceTokens;
  readonly randomness: Randomness;
  readonly accountNow: (tenant: Tenant) => Promise<Timestamp>;
  /** Bytes that must stay free on the folder's disk, which may also hold the database. */
  readonly freeSpaceMin: number;
}

const folderOf = (folder: string, { accountId }: Pick<Tenant, 'accountId'>): string => join(folder, accountId);
/** Returns the path of a complete file. `folder`: that of all evidence. */
export const evidencePath = (folder: string, of: EvidenceRef): string => join(folderOf(folder, of), of.evidenceId);

const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;

/** Throws EvidenceStorageUnavailable for any file system error, except that an error with the code `expected` is rethrown. */
const onDisk = async <T>(work: () => Promise<T>, expected?: string): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (expected !== undefined && codeOf(error) === expected) throw error;
    throw new EvidenceStorageUnavailable('the evidence folder is not usable', { cause: error });
  }
};

/** Resolves when the folder's entries are on disk. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export class FileEvidenceStorage implements EvidenceStorage, EvidenceReceiver {
  readonly #needs: FileStorageNeeds;
  readonly #incoming: string;

  private constructor(needs: FileStorageNeeds) {
    this.#needs = needs;
    this.#incoming = join(needs.folder, 'incoming');
  }

  /** `isAlone`: no other process uses this folder, so that unfinished uploads belong to an ended program and are removed. */
  static async open(needs: FileStorageNeeds, isAlone: boolean): Promise<FileEvidenceStorage> {
    const storage = new FileEvidenceStorage(needs);
    // If the removal fails, the first upload reports the problem.
    if (isAlone) await rm(storage.#incoming, { recursive: true, force: true }).catch(() => undefined);
    return storage;
  }

  async uploadUrl(upload: EvidenceUpload, seconds: number): Promise<string> {
    await this.#makeRoom(upload);
    return this.#needs.tokens.urlFor('PUT', upload, seconds);
  }

  async read(of: EvidenceRef): Promise<Buffer | null> {
    return onDisk(() => readFile(this.#fileOf(of)), 'ENOENT').catch(nullIfAbsent);
  }

  async open(of: EvidenceRef): Promise<OpenedFile | null> {
    const file = await onDisk(() => open(this.#fileOf(of)), 'ENOENT').catch(nullIfAbsent);
    if (file === null) return null;
    try {
      const { size } = await onDisk(() => file.stat());
      return openedFile(size, file.createReadStream());
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async remove(of: EvidenceRef): Promise<void> {
    await onDisk(async () => {
      await rm(this.#fileOf(of), { force: true });
      for (const name of await readdir(this.#incoming).catch(() => []))
        if (name.startsWith(of.evidenceId)) await rm(join(this.#incoming, name), { force: true });
    });
  }

  close(): void {}

  async accept({ evidenceId, token, contentType, size }: SentEvidence): Promise<EvidenceUpload | null> {
    const upload = await this.#needs.tokens.read('PUT', evidenceId, token);
    return upload !== null && contentType === upload.contentType && size === upload.size ? upload : null;
  }

  async store(upload: EvidenceUpload, body: SentEvidence['body']): Promise<string | null> {
    return (await this.#store(upload, upload.size, body))?.sha256 ?? null;
  }

  take(upload: EvidenceUpload, body: AsyncIterable<Uint8Array>): Promise<StoredFile | null> {
    return this.#store(upload, null, body);
  }

  /** `size`: the only size that is stored; null: any up to that of the upload. */
  async #store(
    upload: EvidenceUpload,
    size: number | null,
    body: AsyncIterable<Uint8Array>,
  ): Promise<StoredFile | null> {
    if (!(await this.#isOpen(upload))) return null;
    await this.#makeRoom(upload);
    const draft = join(this.#incoming, `${upload.evidenceId}.${this.#needs.randomness.bytes(8).toString('hex')}`);
    try {
      const stored = await writeDraft(draft, upload.size, body);
      // Account time may have advanced in the meantime, and the grant may have been removed.
      if (stored === null || (size ?? stored.size) !== stored.size || !(await this.#isOpen(upload))) return null;
      return (await this.#publish(draft, upload)) ? stored : null;
    } finally {
      await unlink(draft).catch(() => undefined);
    }
  }

  /** Whether the grant is neither used nor, by account time, expired. */
  async #isOpen(upload: EvidenceUpload): Promise<boolean> {
    if ((await this.#needs.accountNow(upload)) >= upload.expiresAt) return false;
    const file = await onDisk(() => open(this.#fileOf(upload)), 'ENOENT').catch(nullIfAbsent);
    await file?.close();
    return file === null;
  }

  /** Returns false if another upload was first. */
  async #publish(draft: string, upload: EvidenceUpload): Promise<boolean> {
    try {
      // Unlike rename, link never replaces a file.
      await onDisk(() => link(draft, this.#fileOf(upload)), 'EEXIST');
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
    await onDisk(() => syncFolder(this.#folderOf(upload)));
    return true;
  }

  /** Throws EvidenceStorageUnavailable if the file would leave too little space on the disk. */
  async #makeRoom(upload: EvidenceUpload): Promise<void> {
    const { bavail, bsize } = await onDisk(async () => {
      await this.#makeFolders(upload);
      return statfs(this.#needs.folder);
    });
    if (bavail * bsize - upload.size < this.#needs.freeSpaceMin)
      throw new EvidenceStorageUnavailable('less disk space is free than EVIDENCE_FREE_SPACE');
  }

  async #makeFolders(of: Tenant): Promise<void> {
    await mkdir(this.#incoming, PRIVATE_FOLDER);
    await mkdir(this.#folderOf(of), PRIVATE_FOLDER);
  }

  #folderOf(of: Tenant): string {
    return folderOf(this.#needs.folder, of);
  }
  #fileOf(of: EvidenceRef): string {
    return evidencePath(this.#needs.folder, of);
  }
}

const nullIfAbsent = (error: unknown): null => {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
};

/** Writes the body to disk. Returns null if it has more than `sizeMax` bytes, which are never written. */
const writeDraft = async (
  path: string,
  sizeMax: number,
  body: AsyncIterable<Uint8Array>,
): Promise<StoredFile | null> => {
  const file = await onDisk(() => open(path, 'wx', 0o600));
  try {
    const sha256 = createHash('sha256');
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > sizeMax) return null;
      sha256.update(chunk);
      await onDisk(() => file.writeFile(chunk));
    }
    await onDisk(() => file.sync());
    return { sha256: sha256.digest('hex'), size };
  } finally {
    await file.close();
  }
};
