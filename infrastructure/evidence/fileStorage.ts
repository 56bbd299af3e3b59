// Evidence as files of this service, for one machine. A file appears under its name when it is whole and on disk, once: that it is there
// is what spends its grant.
import { createHash } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type EvidenceReceiver,
  type EvidenceRef,
  type EvidenceStorage,
  EvidenceStorageUnavailable,
  type EvidenceUpload,
  type SentEvidence,
} from '../../application/ports/evidenceStorage.ts';
import type { Tenant } from '../../application/ports/paymentProvider.ts';
import type { Randomness } from '../../application/ports/randomness.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EvidenceTokens } from './evidenceTokens.ts';

interface FileStorageNeeds {
  /** `<folder>/<account>/<evidence>` are the files, `<folder>/incoming/…` what is on its way. */
  readonly folder: string;
  readonly tokens: EvidenceTokens;
  readonly randomness: Randomness;
  readonly accountNow: (tenant: Tenant) => Promise<Timestamp>;
}

const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;

/** Throws EvidenceStorageUnavailable for whatever the file system says, but for the code that is passed on. */
const onDisk = async <T>(work: () => Promise<T>, expected?: string): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (expected !== undefined && codeOf(error) === expected) throw error;
    throw new EvidenceStorageUnavailable('the folder of evidence can not be used', { cause: error });
  }
};

/** Resolves when names in the folder are on disk. */
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

  /** `isAlone`: no other process receives in this folder, so that what is half there was cut off by an end of the program. */
  static async open(needs: FileStorageNeeds, isAlone: boolean): Promise<FileEvidenceStorage> {
    const storage = new FileEvidenceStorage(needs);
    // What can't be removed now is told by the first upload.
    if (isAlone) await rm(storage.#incoming, { recursive: true, force: true }).catch(() => undefined);
    return storage;
  }

  async uploadUrl(upload: EvidenceUpload, seconds: number): Promise<string> {
    await onDisk(() => this.#makeFolders(upload));
    return this.#needs.tokens.urlFor('PUT', upload, seconds);
  }

  async read(of: EvidenceRef): Promise<Buffer | null> {
    return onDisk(() => readFile(this.#fileOf(of)), 'ENOENT').catch(nullIfAbsent);
  }

  async remove(of: EvidenceRef): Promise<void> {
    await onDisk(async () => {
      await rm(this.#fileOf(of), { force: true });
      for (const name of await readdir(this.#incoming).catch(() => []))
        if (name.startsWith(of.evidenceId)) await rm(join(this.#incoming, name), { force: true });
    });
  }

  close(): void {}

  async receive({ evidenceId, token, contentType, size, body }: SentEvidence): Promise<string | null> {
    const upload = await this.#needs.tokens.read('PUT', evidenceId, token);
    if (upload === null || contentType !== upload.contentType || size !== upload.size) return null;
    if (!(await this.#isOpen(upload))) return null;
    await onDisk(() => this.#makeFolders(upload));
    const draft = join(this.#incoming, `${evidenceId}.${this.#needs.randomness.bytes(8).toString('hex')}`);
    try {
      const sha256 = await writeDraft(draft, upload.size, body);
      // Account time may have gone on meanwhile, and the file's grant may be swept.
      if (sha256 === null || !(await this.#isOpen(upload))) return null;
      return (await this.#publish(draft, upload)) ? sha256 : null;
    } finally {
      await unlink(draft).catch(() => undefined);
    }
  }

  /** Neither used up nor, by account time, expired. */
  async #isOpen(upload: EvidenceUpload): Promise<boolean> {
    if ((await this.#needs.accountNow(upload)) >= upload.expiresAt) return false;
    const file = await onDisk(() => open(this.#fileOf(upload)), 'ENOENT').catch(nullIfAbsent);
    await file?.close();
    return file === null;
  }

  /** Returns false when another upload was first. */
  async #publish(draft: string, upload: EvidenceUpload): Promise<boolean> {
    try {
      // A link, unlike a renaming, never replaces a file.
      await onDisk(() => link(draft, this.#fileOf(upload)), 'EEXIST');
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
    await onDisk(() => syncFolder(this.#folderOf(upload)));
    return true;
  }

  async #makeFolders(of: Tenant): Promise<void> {
    await mkdir(this.#incoming, PRIVATE_FOLDER);
    await mkdir(this.#folderOf(of), PRIVATE_FOLDER);
  }

  #folderOf({ accountId }: Tenant): string {
    return join(this.#needs.folder, accountId);
  }
  #fileOf(of: EvidenceRef): string {
    return join(this.#folderOf(of), of.evidenceId);
  }
}

const nullIfAbsent = (error: unknown): null => {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
};

/** Returns the SHA-256 of what is on disk then; null when it is not of that size. Nothing beyond it is written. */
const writeDraft = async (path: string, size: number, body: AsyncIterable<Uint8Array>): Promise<string | null> => {
  const file = await onDisk(() => open(path, 'wx', 0o600));
  try {
    const sha256 = createHash('sha256');
    let written = 0;
    for await (const chunk of body) {
      written += chunk.length;
      if (written > size) return null;
      sha256.update(chunk);
      await onDisk(() => file.writeFile(chunk));
    }
    if (written !== size) return null;
    await onDisk(() => file.sync());
    return sha256.digest('hex');
  } finally {
    await file.close();
  }
};
