// The thread that sends webhooks (infrastructure/webhookSender/threadedSender.ts).
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromThread, ThreadOptions, ToThread } from './threadedSender.ts';
import { openAttempts } from './webhookSender.ts';

const port = parentPort as MessagePort;
const sender = openAttempts(workerData as ThreadOptions);
const running = new Set<Promise<void>>();
let outcomes: FromThread[number][] = [];

const flush = (): void => {
  port.postMessage(outcomes satisfies FromThread);
  outcomes = [];
};

const run = async ([number, request]: Exclude<ToThread, 'close'>[number]): Promise<void> => {
  const outcome = await sender.send(request);
  if (outcomes.push([number, outcome]) === 1) setImmediate(flush);
};

const close = async (): Promise<void> => {
  await sender.close();
  await Promise.all(running);
  flush();
  setImmediate(() => process.exit());
};

port.on('message', (message: ToThread) => {
  if (message === 'close') return void close();
  for (const asked of message) {
    const attempt = run(asked);
    running.add(attempt);
    attempt.then(() => running.delete(attempt));
  }
});
