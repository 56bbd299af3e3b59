// A webhook receiver as a process, on all loopback addresses. It accepts every request and reports the number of distinct deliveries.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookFamily } from '../../domain/kernel/publisher.ts';

/** A received message. */
export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly body: string;
}
/** Answered when this many distinct deliveries have arrived since the previous answer. They are then forgotten. */
export interface ReceiverOrder {
  readonly deliveries: number;
}
export interface Received {
  readonly deliveries: number;
  /** The first message of each type since the start. */
  readonly messages: readonly Message[];
}

const seen = new Set<string>();
const messages = new Map<string, Message>();
let wanted: number | null = null;

const answer = (): void => {
  if (wanted === null || seen.size < wanted) return;
  wanted = null;
  const received: Received = {
    deliveries: seen.size,
    messages: [...messages.values()].filter(({ body }) => body !== ''),
  };
  seen.clear();
  process.send?.(received);
};

/** Keeps the message with its body, which no other code reads. */
const keep = (req: IncomingMessage, type: string): void => {
  const isCanonical = String(req.headers['x-acme-signature']).startsWith('t=');
  const message = { type, family: isCanonical ? 'canonical' : 'legacy', body: '' } satisfies Message;
  messages.set(type, message);
  req.setEncoding('utf8').on('data', (chunk: string) => {
    message.body += chunk;
  });
};

const server = createServer((req, res) => {
  const type = String(req.headers['x-acme-event-type']);
  if (!messages.has(type)) keep(req, type);
  req.on('end', () => {
    res.end();
    seen.add(String(req.headers['x-acme-delivery-id']));
    answer();
  });
  req.resume();
});
server.listen(0, '0.0.0.0', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (order: ReceiverOrder) => {
  wanted = order.deliveries;
  answer();
});
process.on('disconnect', () => process.exit(0));
