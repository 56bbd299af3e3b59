// The webhook sender in a thread of its own. Receivers' answers, TLS handshakes and compressed bodies then take no time from requests and
// commands, and an attempt does not wait for a turn of the main thread. Messages that arise together cross over together.
import { Worker } from 'node:worker_threads';
import type { AttemptOutcome, WebhookRequest, WebhookSender } from '../../application/ports/webhookSender.ts';
import { refusedOutcome } from './attempt.ts';
import { errorLine } from './failure.ts';
import { judged, policyOf } from './target.ts';
import type { WebhookSenderOptions } from './webhookSender.ts';

/** Options that can cross over to a thread. */
export type ThreadOptions = Omit<WebhookSenderOptions, 'resolver'>;

/** `close`: end all attempts, report their outcomes, and exit. */
export type ToThread = readonly (readonly [number: number, request: WebhookRequest])[] | 'close';
export type FromThread = readonly (readonly [number: number, outcome: AttemptOutcome])[];

interface Thread {
  send(request: WebhookRequest): Promise<AttemptOutcome>;
  close(): Promise<void>;
}

const ended = (how: 'is closed' | 'failed'): AttemptOutcome =>
  refusedOutcome(errorLine('connection', `the sender ${how}`));

/** `onEnded`: called once, with the error that ended the thread, or null. */
const openThread = (options: ThreadOptions, onEnded: (error: Error | null) => void): Thread => {
  const worker = new Worker(new URL('./senderThread.ts', import.meta.url), { workerData: options });
  const waiting = new Map<number, (outcome: AttemptOutcome) => void>();
  let batch: [number, WebhookRequest][] = [];
  let sent = 0;
  let failure: Error | null = null;
  const flush = (): void => {
    worker.postMessage(batch satisfies ToThread);
    batch = [];
  };
  worker.on('message', (outcomes: FromThread) => {
    for (const [number, outcome] of outcomes) {
      waiting.get(number)?.(outcome);
      waiting.delete(number);
    }
  });
  worker.on('error', (error) => {
    failure = error;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      onEnded(failure);
      for (const settle of waiting.values()) settle(ended(failure === null ? 'is closed' : 'failed'));
      resolve();
    });
  });
  return {
    send: (request) =>
      new Promise((resolve) => {
        waiting.set(++sent, resolve);
        batch.push([sent, request]);
        if (batch.length === 1) queueMicrotask(flush);
      }),
    close: () => {
      queueMicrotask(() => worker.postMessage('close' satisfies ToThread));
      return exited;
    },
  };
};

/**
 * Like `openWebhookSender`. The thread starts with the first attempt. If it fails, its attempts fail as `connection`, `onError` is called,
 * and the next attempt starts another thread.
 */
export const openThreadedSender = (options: ThreadOptions, onError: (error: Error) => void): WebhookSender => {
  let thread: Thread | null = null;
  let isClosed = false;
  const started = (): Thread => {
    const own = openThread(options, (error) => {
      if (thread === own) thread = null;
      if (error !== null) onError(error);
    });
    return own;
  };
  return {
    send: (request) => {
      if (isClosed) return Promise.resolve(ended('is closed'));
      thread ??= started();
      return thread.send(request);
    },
    judgeUrl: (url, mode) => judged(url, policyOf(mode, options.allowPrivate)),
    close: async () => {
      isClosed = true;
      await thread?.close();
    },
  };
};
