// Streams a confirmed file to the holder of a link. Slow clients occupy a slot and memory, so the number of downloads is limited.
import { createHash } from 'node:crypto';
import { NO_EVIDENCE, sizeMismatch } from '../../domain/dispute/evidenceFile.ts';
import type { EvidenceId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { KeyedCount } from '../core/keyedCount.ts';
import type { EvidenceLinks, EvidenceStorage } from '../ports/evidenceStorage.ts';
import { BAD_SIGNATURE } from './evidence.ts';

/** Concurrent downloads in each process. */
const OF_LINK_MAX = 4;
const OF_ACCOUNT_MAX = 16;
const SEND_MS = 60_000;

interface ShownEvidence {
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  /** Time limit for sending the file. */
  readonly sendMs: number;
  /** Frees its slot. */
  close(): void;
}

const TOO_MANY = reject(
  'rate_limited',
  `Too many downloads at once: at most ${OF_LINK_MAX} per link and ${OF_ACCOUNT_MAX} per account. Wait until one ends.`,
);

/** The stored file differs from the confirmed one. */
export class EvidenceDamaged extends Error {
  override name = 'EvidenceDamaged';
}

/**
 * Returns the file of a link. Rejects with `invalid_signature` if the link is invalid or has expired, with `rate_limited` if there are too
 * many downloads, with `not_found` if the file is gone, and with `EVIDENCE_SIZE_MISMATCH` if it is damaged. If the damage didn't change
 * the size, the chunks end with EvidenceDamaged before the last one, so that no client gets a complete damaged file.
 */
export const showEvidence = ({
  links,
  evidence,
}: {
  readonly links: EvidenceLinks;
  readonly evidence: EvidenceStorage;
}) => {
  const places = openPlaces();
  return async (evidenceId: EvidenceId, token: string): Promise<ShownEvidence | Rejection> => {
    const view = await links.read('GET', evidenceId, token);
    if (view === null) return BAD_SIGNATURE;
    const leave = places.enter(token, view.accountId);
    if (leave === null) return TOO_MANY;
    const file = await evidence.open(view).catch((error: unknown) => {
      leave();
      throw error;
    });
    const { fileName, contentType, size, sha256 } = view;
    if (file !== null && file.size === size) {
      const close = () => {
        file.close();
        leave();
      };
      return { fileName, contentType, size, chunks: verified(file.chunks, sha256), sendMs: SEND_MS, close };
    }
    file?.close();
    leave();
    return file === null ? NO_EVIDENCE : sizeMismatch(size, file.size);
  };
};

async function* verified(chunks: AsyncIterable<Buffer>, sha256: string): AsyncGenerator<Buffer> {
  const sum = createHash('sha256');
  let held: Buffer | null = null;
  for await (const chunk of chunks) {
    if (held !== null) yield held;
    sum.update(chunk);
    held = chunk;
  }
  if (sum.digest('hex') !== sha256) throw new EvidenceDamaged('the SHA-256 of a confirmed file has changed');
  if (held !== null) yield held;
}

const openPlaces = () => {
  const [ofLink, ofAccount] = [new KeyedCount(), new KeyedCount()];
  return {
    /** Returns a function that frees the slot, or null if all slots are occupied. */
    enter: (link: string, account: string): (() => void) | null => {
      if (ofLink.of(link) >= OF_LINK_MAX || ofAccount.of(account) >= OF_ACCOUNT_MAX) return null;
      const leave = [ofLink.add(link), ofAccount.add(account)];
      return () => {
        for (const one of leave) one();
      };
    },
  };
};
