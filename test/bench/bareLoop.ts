// The counterpart of webhook delivery: a process that signs and posts messages with undici and records nothing.
import { Agent } from 'undici';
import { signatureHeaders } from '../../application/webhooks/webhookSignature.ts';
import { encodeRawId } from '../../domain/kernel/ids.ts';
import type { Message } from './receiverProcess.ts';

/** The messages are sent to the URLs in turn. */
export interface BareOrder {
  readonly urls: readonly string[];
  readonly messages: readonly Message[];
  readonly deliveries: number;
  readonly concurrency: number;
}

const SECRET = 'ab'.repeat(32);
const idOf = (n: number): string => encodeRawId(Buffer.from(n.toString(16).padStart(32, '0'), 'hex'));

const run = async ({ urls, messages, deliveries, concurrency }: BareOrder): Promise<number> => {
  const agent = new Agent({ connections: concurrency, pipelining: 1 });
  const targets = urls.map((url) => new URL(url)).map(({ origin, pathname: path }) => ({ origin, path }));
  let next = 0;
  const post = async (): Promise<void> => {
    for (let n = next++; n < deliveries; n = next++) {
      const id = idOf(n);
      const { type, family, body } = messages[n % messages.length]!;
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'x-acme-delivery-id': `wd_${id}`,
        'x-acme-event-type': type,
        'x-acme-sequence': String((n % messages.length) + 1),
        'user-agent': 'Quita-Webhooks/1.0',
        'accept-encoding': 'identity',
        ...signatureHeaders({ secret: SECRET, body, family, id: `evt_${id}`, atMs: Date.now() }),
      };
      const answer = await agent.request({ ...targets[n % targets.length]!, method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`);
    }
  };
  const beganAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, post));
  const perSecond = (deliveries * 1_000) / (performance.now() - beganAt);
  await agent.close();
  return perSecond;
};

process.on('message', (order: BareOrder) => {
  void run(order).then((perSecond) => process.send?.({ perSecond }));
});
process.on('disconnect', () => process.exit(0));
