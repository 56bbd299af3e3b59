// Examines files in a separate thread, because a hostile file of 10 MB would block the event loop too long. It limits the number of files
// in memory.
import { Worker } from 'node:worker_threads';
import type { EvidenceVerdict, JudgeEvidence } from '../../application/ports/evidenceGrants.ts';
import { EvidenceStorageUnavailable } from '../../application/ports/evidenceStorage.ts';
import { sizeMismatch } from '../../domain/dispute/evidenceFile.ts';
import { reject } from '../../domain/kernel/rejection.ts';

/** Files in memory: one waits for the thread while the next is read. */
const FILES_MAX = 2;
/** Longest examination; the worst known file takes a second. */
const JUDGING_MS_MAX = 20_000;
const TOO_LONG = reject(
  'invalid_evidence',
  'The file takes too long to examine. Request a new upload and send another file.',
);

export interface JudgedFile {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
}

interface EvidenceJudge {
  readonly judge: JudgeEvidence;
  close(): Promise<void>;
}

/** Returns functions to examine a file in the thread, one at a time, and to end the thread. The thread starts with the first file. */
const judgeThread = () => {
  let worker: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const begin = (): Worker => {
    const begun = new Worker(new URL('./judgeWorker.ts', import.meta.url));
    // The exit reports an error to the caller; an idle thread has no caller.
    begun.on('error', () => undefined);
    begun.once('exit', () => {
      if (worker === begun) worker = null;
    });
    return begun;
  };
  const ask = (file: JudgedFile): Promise<EvidenceVerdict> =>
    new Promise((resolve, reject) => {
      worker ??= begin();
      const asked = worker;
      const settle = (): void => {
        clearTimeout(timer);
        asked.off('message', onVerdict).off('exit', onExit);
        // An idle thread must not keep the process alive.
        asked.unref();
      };
      const onVerdict = (verdict: EvidenceVerdict): void => {
        settle();
        resolve(verdict);
      };
      const onExit = (): void => {
        settle();
        reject(new EvidenceStorageUnavailable('the thread that examines files ended'));
      };
      // Too slow is also a verdict: a retry would take as long while other files wait.
      const timer = setTimeout(() => {
        worker = null;
        onVerdict(TOO_LONG);
        void asked.terminate();
      }, JUDGING_MS_MAX);
      asked.ref();
      asked.on('message', onVerdict).on('exit', onExit);
      asked.postMessage(file);
    });
  return {
    ask: (file: JudgedFile): Promise<EvidenceVerdict> => {
      const mine = last.then(() => ask(file));
      last = mine.catch(() => undefined);
      return mine;
    },
    close: async () => void (await worker?.terminate()),
  };
};

export const openEvidenceJudge = (): EvidenceJudge => {
  const thread = judgeThread();
  const lanes: Promise<unknown>[] = Array.from({ length: FILES_MAX }, () => Promise.resolve());
  let turn = 0;
  const judgeNow: JudgeEvidence = async ({ read, mimeType, fileSize }) => {
    const bytes = await read();
    if (bytes === null) return null;
    return bytes.length === fileSize ? thread.ask({ bytes, mimeType }) : sizeMismatch(fileSize, bytes.length);
  };
  return {
    judge: (file) => {
      const lane = turn++ % FILES_MAX;
      const mine = (lanes[lane] as Promise<unknown>).then(() => judgeNow(file));
      lanes[lane] = mine.catch(() => undefined);
      return mine;
    },
    close: thread.close,
  };
};
