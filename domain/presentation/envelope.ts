// The two envelopes of webhook messages (contract.md Events).
import { type EventId, PREFIX } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { WebhookFamily } from '../webhookDelivery/webhookDelivery.ts';

/** rule I13. */
export const API_VERSION = '2026-11-01';

export interface Message {
  readonly type: string;
  readonly family: WebhookFamily;
  readonly at: Timestamp;
  /** The exact JSON text to send, with `eventId` as its stable id. */
  readonly render: (eventId: EventId) => string;
}

/** `charge.*`, `payout.*`: `object` is what the REST API shows. */
export const canonicalMessage = (type: string, at: Timestamp, object: () => object): Message => ({
  type,
  family: 'canonical',
  at,
  render: (eventId) =>
    JSON.stringify({
      id: PREFIX.event + eventId,
      object: 'event',
      api_version: API_VERSION,
      type,
      created_at: at,
      data: { object: object() },
    }),
});

/** `payment.*`, `withdrawal.*`. */
export const legacyMessage = (event: string, at: Timestamp, data: () => object): Message => ({
  type: event,
  family: 'legacy',
  at,
  render: () => JSON.stringify({ event, data: data() }),
});
