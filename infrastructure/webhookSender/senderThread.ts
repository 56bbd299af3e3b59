// The thread that sends webhooks (infrastructure/webhookSender/threadedSender.ts).
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { FromThread, ThreadOptions, ToThread } from './threadedSender.ts';
import { openWebhookSender } from './webhookSender.ts';

const port = parentPort as MessagePort;
const sender = openWebhookSender(workerData as ThreadOptions);
let outcomes: FromThread[number][] = [];

const flush = (): void => {
  port.postMessage(outcomes satisfies FromThread);
  outcomes = [];
};

const close = async (): Promise<void> => {
  await sender.close();
  // The outcomes of the closed attempts go first.
  setImmediate(() => setImmediate(() => process.exit()));
};

port.on('message', (message: ToThread) => {
  if (message === 'close') return void close();
  for (const [number, request] of message)
    sender.send(request).then((outcome) => {
      if (outcomes.push([number, outcome]) === 1) setImmediate(flush);
    });
});
