// The thread that sends webhooks (infrastructure/webhookSender/threadedSender.ts).
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WebhookRequest } from '../../application/ports/webhookSender.ts';
import type { FromThread, ThreadOptions, ToThread } from './threadedSender.ts';
import { openWebhookSender } from './webhookSender.ts';

/** An attempt, from its request until its outcome. */
interface Asked {
  readonly leaving: AbortController;
  /** Set while the attempt has its turn and waits for a newer request. */
  renew: ((request: WebhookRequest | null) => void) | null;
}

const port = parentPort as MessagePort;
const sender = openWebhookSender(workerData as ThreadOptions);
const asked = new Map<number, Asked>();
const running = new Set<Promise<void>>();
let answers: FromThread[number][] = [];

const flush = (): void => {
  port.postMessage(answers satisfies FromThread);
  answers = [];
};

const answer = (...one: FromThread[number]): void => {
  if (answers.push(one) === 1) setImmediate(flush);
};

const run = async (number: number, first: WebhookRequest): Promise<void> => {
  const own: Asked = { leaving: new AbortController(), renew: null };
  asked.set(number, own);
  let made: WebhookRequest | null = first;
  const requestOf = async (): Promise<WebhookRequest | null> => {
    const request = made;
    made = null;
    if (request !== null) return request;
    const { promise, resolve } = Promise.withResolvers<WebhookRequest | null>();
    own.renew = resolve;
    answer(number, 'renew');
    return promise;
  };
  const { signal } = own.leaving;
  const outcome = await sender.sendInTurn(requestOf, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error; // a fault of the sender ends the thread
    return null;
  });
  asked.delete(number);
  answer(number, outcome);
};

const close = async (): Promise<void> => {
  const closed = sender.close();
  for (const { renew } of asked.values()) renew?.(null);
  await closed;
  await Promise.all(running);
  flush();
  setImmediate(() => process.exit());
};

port.on('message', (message: ToThread) => {
  if (message === 'close') return void close();
  for (const [number, request] of message) {
    const own = asked.get(number);
    if (own?.renew) own.renew(request);
    else if (own !== undefined) own.leaving.abort();
    else if (request !== null) {
      const attempt = run(number, request);
      running.add(attempt);
      attempt.then(() => running.delete(attempt));
    }
  }
});
