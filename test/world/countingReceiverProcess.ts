// A webhook receiver in its own process. It accepts everything, counts each delivery, and detects duplicates that differ.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrivals, ReceiverOrder } from './countingReceiver.ts';

interface Delivery {
  readonly eventId: string;
  readonly bodyHash: string;
}
type Body =
  | { readonly type: string; readonly data: { readonly object: { readonly id: string } } }
  | { readonly event: string; readonly data: { readonly transactionId: string } };

const first = new Map<string, Delivery>();
const events: string[] = [];
const changed: string[] = [];
let duplicates = 0;
let tellAt = Number.POSITIVE_INFINITY;

/** Returns the event and the raw payment id: the ids of a charge and its transaction differ only in their prefix. */
const nameOf = (body: Body): string =>
  'type' in body
    ? `${body.type} ${body.data.object.id.slice('ch_'.length)}`
    : `${body.event} ${body.data.transactionId.slice('tx_'.length)}`;

const tell = (): void => {
  if (first.size < tellAt) return;
  tellAt = Number.POSITIVE_INFINITY;
  process.send?.('reached');
};

const take = (deliveryId: string, eventId: string, rawBody: string): void => {
  const bodyHash = createHash('sha256').update(rawBody).digest('base64');
  const before = first.get(deliveryId);
  if (before === undefined) {
    first.set(deliveryId, { eventId, bodyHash });
    events.push(nameOf(JSON.parse(rawBody) as Body));
    tell();
    return;
  }
  duplicates += 1;
  if (before.eventId !== eventId || before.bodyHash !== bodyHash) changed.push(`${deliveryId} ${eventId}: ${rawBody}`);
};

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    take(
      String(req.headers['x-acme-delivery-id']),
      String(req.headers['webhook-id']),
      Buffer.concat(chunks).toString('utf8'),
    );
    res.end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (order: ReceiverOrder) => {
  if ('tellAt' in order) {
    ({ tellAt } = order);
    tell();
    return;
  }
  const eventIds = new Set([...first.values()].map(({ eventId }) => eventId)).size;
  const arrivals: Arrivals = { deliveries: first.size, eventIds, duplicates, changed, events };
  process.send?.(arrivals);
});
process.on('disconnect', () => process.exit(0));
