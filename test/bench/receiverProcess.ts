// A webhook receiver as a process, on every address of loopback: takes everything, and tells how many distinct deliveries came.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookFamily } from '../../domain/kernel/publisher.ts';

/** A message as it came. */
export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly body: string;
}
/** Is answered when so many distinct deliveries have come since the answer before; they are then forgotten. */
export interface ReceiverOrder {
  readonly deliveries: number;
}
export interface Received {
  readonly deliveries: number;
  /** The first of each type that ever came. */
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

/** Reads the body, which nobody else does. */
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
