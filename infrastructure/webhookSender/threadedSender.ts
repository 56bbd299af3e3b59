// The webhook sender in a thread of its own. Receivers' answers, TLS handshakes and compressed bodies then take no time from requests and
// commands, and an attempt does not wait for a turn of the main thread. Requests of one turn are posted as one message, as are outcomes. If
// an attempt has waited too long for its turn, the thread asks for its request again.
import { Worker } from 'node:worker_threads';
import {
  type AttemptOutcome,
  SenderFailed,
  type WebhookRequest,
  type WebhookSender,
} from '../../application/ports/webhookSender.ts';
import { refusedOutcome } from './attempt.ts';
import { errorLine } from './failure.ts';
import { judged, policyOf } from './target.ts';
import { sendingOnce, type WebhookSenderOptions } from './webhookSender.ts';

/** Options that can be cloned into a thread. */
export type ThreadOptions = Omit<WebhookSenderOptions, 'resolver'>;

/** The request of an attempt, or its newer request. null: the attempt must not begin. `close`: end all attempts, report them, and exit. */
export type ToThread = readonly (readonly [number: number, request: WebhookRequest | null])[] | 'close';
/** The outcome of an attempt, null if it did not begin. `renew`: it can begin, and needs a newer request. */
export type FromThread = readonly (readonly [number: number, answer: AttemptOutcome | null | 'renew'])[];

type Thread = Pick<WebhookSender, 'sendInTurn' | 'close'>;

/** An attempt, from its request until its outcome. */
interface Asked extends PromiseWithResolvers<AttemptOutcome | null> {
  readonly requestOf: () => Promise<WebhookRequest | null>;
  readonly signal: AbortSignal | undefined;
}

/** A thread that takes longer to close is terminated. */
const CLOSE_MS_MAX = 5_000;
const closed = (): AttemptOutcome => refusedOutcome(errorLine('connection', 'the sender is closed'));

/** Returns the outcome. Calls `leave` if the signal aborts, and rejects with its reason if the attempt then did not begin. */
const untilEnded = async (
  outcome: Promise<AttemptOutcome | null>,
  leave: () => void,
  signal: AbortSignal | undefined,
): Promise<AttemptOutcome | null> => {
  signal?.addEventListener('abort', leave);
  try {
    const done = await outcome;
    if (done === null) signal?.throwIfAborted();
    return done;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
};

/** `onEnded`: called once, with the error that ended the thread, or null. */
const openThread = (options: ThreadOptions, onEnded: (error: Error | null) => void): Thread => {
  const worker = new Worker(new URL('./senderThread.ts', import.meta.url), { workerData: options });
  const waiting = new Map<number, Asked>();
  let batch: [number, WebhookRequest | null][] = [];
  let sent = 0;
  let failure: Error | null = null;
  const take = (number: number): Asked | undefined => {
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
  const post = (number: number, request: WebhookRequest | null): void => {
    if (batch.push([number, request]) === 1) queueMicrotask(flush);
  };
  const renew = async (number: number): Promise<void> => {
    const one = waiting.get(number);
    try {
      one?.signal?.throwIfAborted();
      post(number, (await one?.requestOf()) ?? null);
    } catch (error) {
      take(number)?.reject(error);
      post(number, null);
    }
  };
  worker.on('message', (answers: FromThread) => {
    for (const [number, answer] of answers)
      if (answer === 'renew') void renew(number);
      else take(number)?.resolve(answer);
  });
  worker.on('error', (error) => {
    failure = error;
  });
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      for (const { resolve: settle, reject } of waiting.values())
        if (failure === null) settle(closed());
        else reject(new SenderFailed('the thread of webhooks failed', { cause: failure }));
      resolve();
      onEnded(failure);
    });
  });
  return {
    sendInTurn: async (requestOf, signal) => {
      signal?.throwIfAborted();
      const request = await requestOf();
      if (request === null) return null;
      const outcome = Promise.withResolvers<AttemptOutcome | null>();
      const number = ++sent;
      waiting.set(number, { ...outcome, requestOf, signal });
      post(number, request);
      return untilEnded(outcome.promise, () => post(number, null), signal);
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
  const sendInTurn: WebhookSender['sendInTurn'] = async (requestOf, signal) => {
    if (isClosed) return closed();
    thread ??= started();
    return thread.sendInTurn(requestOf, signal);
  };
  return {
    send: sendingOnce(sendInTurn),
    sendInTurn,
    judgeUrl: (url, mode) => judged(url, policyOf(mode, options.allowPrivate)),
    close: async () => {
      isClosed = true;
      await thread?.close();
    },
  };
};
