// Requirements of every evidence storage.
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  type EvidenceStorage,
  EvidenceStorageUnavailable,
  type EvidenceUpload,
  type OpenedFile,
} from '../../application/ports/evidenceStorage.ts';
import type { AccountId, EvidenceId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { jpegImage, pngImage } from '../support/images.ts';

interface EvidenceStorageUnderTest {
  readonly storage: EvidenceStorage;
  /** Advances the clock by which URLs expire. */
  advance(seconds: number): void;
  /** Makes the storage unusable from now on. */
  breakIt(): Promise<void>;
  close(): Promise<void>;
}

const GRANT_SECONDS = 900;
/** Real time that a test may take between granting a URL and using it. */
const SLACK_SECONDS = 60;
const FILE = pngImage();
const UPLOAD: EvidenceUpload = {
  accountId: '0123456789abcdefghjkmnpqrs' as AccountId,
  mode: 'test',
  evidenceId: '1123456789abcdefghjkmnpqrs' as EvidenceId,
  contentType: 'image/png',
  size: FILE.length,
  expiresAt: '2999-01-01T00:00:00.000Z' as Timestamp,
};
const OTHER_ID = '2123456789abcdefghjkmnpqrs' as EvidenceId;

/** Uploads the body and returns the status. */
export const sendTo = async (url: string, body: Uint8Array, contentType = 'image/png', method = 'PUT') =>
  (await fetch(url, { method, headers: { 'content-type': contentType }, body: new Uint8Array(body) })).status;

/** Reads an opened file to its end and closes it. */
const contentOf = async (file: OpenedFile | null): Promise<Buffer | null> => {
  if (file === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of file.chunks) chunks.push(chunk);
  file.close();
  return Buffer.concat(chunks);
};

export const evidenceStorageConformance = (name: string, open: () => Promise<EvidenceStorageUnderTest>): void => {
  describe(`evidence storage: ${name}`, () => {
    let under: EvidenceStorageUnderTest;
    let storage: EvidenceStorage;
    let url: string;
    beforeEach(async () => {
      under = await open();
      storage = under.storage;
      url = await storage.uploadUrl(UPLOAD, GRANT_SECONDS);
    });
    afterEach(() => under.close());

    it('returns null before the upload', async () => {
      expect(await storage.read(UPLOAD)).to.equal(null);
    });
    it('returns the uploaded file completely, on every read', async () => {
      expect(await sendTo(url, FILE)).to.equal(200);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
    });
    it('rejects another type, size, method or path, without using the URL up', async () => {
      expect(await sendTo(url, FILE, 'image/jpeg')).to.equal(403);
      expect(await sendTo(url, FILE.subarray(1))).to.equal(403);
      expect(await sendTo(url, Buffer.concat([FILE, Buffer.from([0])]))).to.equal(403);
      expect(await sendTo(url, FILE, 'image/png', 'POST')).to.equal(403);
      expect(await sendTo(url.replace(/[^/?]+\?/, `${OTHER_ID}?`), FILE)).to.equal(403);
      expect(await storage.read(UPLOAD)).to.equal(null);
      expect(await storage.read({ ...UPLOAD, evidenceId: OTHER_ID })).to.equal(null);
      expect(await sendTo(url, FILE)).to.equal(200);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
    });
    it('rejects a modified URL', async () => {
      const last = url.at(-1) as string;
      expect(await sendTo(url.slice(0, -1), FILE)).to.equal(403);
      expect(await sendTo(`${url}${last}`, FILE)).to.equal(403);
      expect(await storage.read(UPLOAD)).to.equal(null);
    });
    it('accepts a URL until it expires, rejects it afterwards, and then accepts a new one', async () => {
      const other = { ...UPLOAD, evidenceId: OTHER_ID };
      const otherUrl = await storage.uploadUrl(other, GRANT_SECONDS);
      under.advance(GRANT_SECONDS - SLACK_SECONDS);
      expect(await sendTo(otherUrl, FILE)).to.equal(200);
      under.advance(SLACK_SECONDS + 1);
      expect(await sendTo(url, FILE)).to.equal(403);
      expect(await storage.read(UPLOAD)).to.equal(null);
      // The bucket’s URLs are signed by the real clock, so the new one must outlast the advance.
      expect(await sendTo(await storage.uploadUrl(UPLOAD, 2 * GRANT_SECONDS), FILE)).to.equal(200);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
    });
    it('keeps what was read, whatever is uploaded later', async () => {
      const [one, other] = [Buffer.alloc(1_000, 'a'), Buffer.alloc(1_000, 'b')];
      const upload = { ...UPLOAD, size: 1_000 };
      const at = await storage.uploadUrl(upload, GRANT_SECONDS);
      expect(await sendTo(at, one)).to.equal(200);
      expect(await storage.read(upload)).to.deep.equal(one);
      await sendTo(at, other);
      expect(await storage.read(upload)).to.deep.equal(one);
    });
    it('opens no file that a later upload could change', async () => {
      const [one, other] = [Buffer.alloc(1_000, 'a'), Buffer.alloc(1_000, 'b')];
      const upload = { ...UPLOAD, size: 1_000 };
      const at = await storage.uploadUrl(upload, GRANT_SECONDS);
      expect(await sendTo(at, one)).to.equal(200);
      const opened = await contentOf(await storage.open(upload));
      await sendTo(at, other);
      expect(await storage.read(upload)).to.deep.equal(opened ?? other);
    });
    it('separates files and accounts', async () => {
      const second = { ...UPLOAD, evidenceId: OTHER_ID, contentType: 'image/jpeg', size: jpegImage().length };
      expect(await sendTo(url, FILE)).to.equal(200);
      expect(await sendTo(await storage.uploadUrl(second, GRANT_SECONDS), jpegImage(), 'image/jpeg')).to.equal(200);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
      expect(await storage.read(second)).to.deep.equal(jpegImage());
      const elsewhere = { ...UPLOAD, accountId: '3123456789abcdefghjkmnpqrs' as AccountId };
      expect(await storage.read(elsewhere)).to.equal(null);
      await storage.remove(elsewhere);
      expect(await storage.read(UPLOAD)).to.deep.equal(FILE);
    });
    it('accepts a stream up to the declared size, and stores nothing of a larger or interrupted one', async () => {
      const upload = { ...UPLOAD, size: FILE.length };
      const inPieces = async function* (bytes: Buffer, cause?: Error) {
        for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50);
        if (cause !== undefined) throw cause;
      };
      expect(await storage.take(upload, inPieces(Buffer.concat([FILE, Buffer.from([0])])))).to.equal(null);
      const cut = new Error('cut off');
      expect(await storage.take(upload, inPieces(FILE, cut)).catch((error: unknown) => error)).to.equal(cut);
      expect(await storage.read(upload)).to.equal(null);
      const stored = { sha256: hash('sha256', FILE, 'hex'), size: FILE.length };
      expect(await storage.take({ ...upload, size: FILE.length + 9 }, inPieces(FILE))).to.deep.equal(stored);
      expect(await storage.read(upload)).to.deep.equal(FILE);
    });
    it('opens a file as a stream after it was read, and returns null before its upload and after its removal', async () => {
      const bytes = Buffer.alloc(300_000, 'quita');
      const upload = { ...UPLOAD, size: bytes.length };
      expect(await storage.open(upload)).to.equal(null);
      expect(await sendTo(await storage.uploadUrl(upload, GRANT_SECONDS), bytes)).to.equal(200);
      await storage.read(upload);
      for (let times = 0; times < 2; times++) {
        const file = (await storage.open(upload)) as OpenedFile;
        expect([file.size, (await contentOf(file))?.equals(bytes)]).to.deep.equal([bytes.length, true]);
      }
      const unread = (await storage.open(upload)) as OpenedFile;
      unread.close();
      await storage.remove(upload);
      expect(await storage.open(upload)).to.equal(null);
    });
    it('removes a file, idempotently, read or not', async () => {
      expect(await sendTo(url, FILE)).to.equal(200);
      await storage.remove(UPLOAD);
      expect(await storage.read(UPLOAD)).to.equal(null);
      await storage.remove(UPLOAD);
      expect(await sendTo(url, FILE)).to.equal(200);
      await storage.read(UPLOAD);
      await storage.remove(UPLOAD);
      expect(await storage.read(UPLOAD)).to.equal(null);
    });
    it('throws EvidenceStorageUnavailable from every method if it is unusable', async () => {
      await under.breakIt();
      for (const ask of [
        () => storage.uploadUrl(UPLOAD, GRANT_SECONDS),
        () => storage.read(UPLOAD),
        () => storage.open(UPLOAD),
        () => storage.remove(UPLOAD),
        () => storage.take(UPLOAD, Readable.from([FILE])),
      ]) {
        const outcome = await ask().catch((error: unknown) => error);
        expect(outcome).to.be.instanceOf(EvidenceStorageUnavailable);
      }
    });
  });
};
