// The counterpart of webhook delivery: a process that signs and posts with undici and records nothing.
import { Agent } from 'undici';
import { signatureHeaders } from '../../application/webhooks/webhookSignature.ts';
import { type EventId, encodeRawId } from '../../domain/kernel/ids.ts';

export interface BareOrder {
  readonly url: string;
  readonly body: string;
  readonly deliveries: number;
  readonly concurrency: number;
}

const SECRET = 'ab'.repeat(32);
const idOf = (n: number): string => encodeRawId(Buffer.from(n.toString(16).padStart(32, '0'), 'hex'));

const run = async ({ url, body, deliveries, concurrency }: BareOrder): Promise<number> => {
  const agent = new Agent({ connections: concurrency, pipelining: 1 });
  const { origin, pathname } = new URL(url);
  let next = 0;
  const post = async (): Promise<void> => {
    for (let n = next++; n < deliveries; n = next++) {
      const id = idOf(n);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'x-acme-delivery-id': `wd_${id}`,
        'x-acme-event-type': 'charge.paid',
        ...signatureHeaders({ secret: SECRET, body, family: 'canonical', eventId: id as EventId, atMs: Date.now() }),
      };
      const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
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
