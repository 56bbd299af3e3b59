// The webhook sender in a thread of its own. Receivers' answers, TLS handshakes and compressed bodies then take no time from requests and
// commands, and an attempt does not wait for a turn of the main thread. Requests of one turn are posted as one message, as are outcomes.
import { Worker } from 'node:worker_threads';
import {
  type AttemptOutcome,
  SenderFailed,
  type WebhookRequest,
  type WebhookSender,
} from '../../application/ports/webhookSender.ts';
import { type Attempts, closedOutcome, withSlots } from './slots.ts';
import { judged, policyOf } from './target.ts';
import type { WebhookSenderOptions } from './webhookSender.ts';

/** Options that can be cloned into a thread. */
export type ThreadOptions = Omit<WebhookSenderOptions, 'resolver'>;

/** `close`: end all attempts, report their outcomes, and exit. */
export type ToThread = readonly (readonly [number: number, request: WebhookRequest])[] | 'close';
export type FromThread = readonly (readonly [number: number, outcome: AttemptOutcome])[];

interface Thread {
  send(request: WebhookRequest): Promise<AttemptOutcome>;
  close(): Promise<void>;
}

/** A thread that takes longer to close is terminated. */
const CLOSE_MS_MAX = 5_000;

/** `onEnded`: called once, with the error that ended the thread, or null. */
const openThread = (options: ThreadOptions, onEnded: (error: Error | null) => void): Thread => {
  const worker = new Worker(new URL('./senderThread.ts', import.meta.url), { workerData: options });
  const waiting = new Map<number, PromiseWithResolvers<AttemptOutcome>>();
  let batch: [number, WebhookRequest][] = [];
  let sent = 0;
  let failure: Error | null = null;
  const take = (number: number): PromiseWithResolvers<AttemptOutcome> | undefined => {
    const one = waiting.get(number);
    waiting.delete(number);
    return one;
  };
  const flush = (): void => {
    const requests = batch;
    batch = [];
    try {
      worker.postMessage(requests satisfies ToThread);
    } catch (cause) {
      for (const [number] of requests) take(number)?.reject(new SenderFailed('not posted', { cause }));
    }
  };
  worker.on('message', (outcomes: FromThread) => {
    for (const [number, outcome] of outcomes) take(number)?.resolve(outcome);
  });
  worker.on('error', (error) => {
    failure = error;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      for (const { resolve: settle, reject } of waiting.values())
        if (failure === null) settle(closedOutcome());
        else reject(new SenderFailed('the thread of webhooks failed', { cause: failure }));
      resolve();
      onEnded(failure);
    });
  });
  return {
    send: (request) => {
      const outcome = Promise.withResolvers<AttemptOutcome>();
      waiting.set(++sent, outcome);
      if (batch.push([sent, request]) === 1) queueMicrotask(flush);
      return outcome.promise;
    },
    close: async () => {
      queueMicrotask(() => worker.postMessage('close' satisfies ToThread));
      const late = setTimeout(() => void worker.terminate(), CLOSE_MS_MAX);
      await exited;
      clearTimeout(late);
    },
  };
};

/**
 * Like `openWebhookSender`. The thread starts with the first attempt. If it fails, `onError` is called, its attempts reject, and the next
 * attempt starts another thread.
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
  const attempts: Attempts = {
    send: async (request) => {
      if (isClosed) return closedOutcome();
      thread ??= started();
      return thread.send(request);
    },
    judgeUrl: (url, mode) => judged(url, policyOf(mode, options.allowPrivate)),
    close: async () => {
      isClosed = true;
      await thread?.close();
    },
  };
  return withSlots(attempts, options.connections);
};
