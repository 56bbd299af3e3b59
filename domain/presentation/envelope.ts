// The two envelopes of webhook messages (contract.md Events).
import { PREFIX } from '../kernel/ids.ts';
import type { CatalogueEntry, Message } from '../kernel/publisher.ts';
import type { Timestamp } from '../kernel/time.ts';

/** Version of the public API (rule I13). */
export const API_VERSION = '2026-11-01';

/** Returns catalogue entries from descriptions by event name (contract.md "Event names"). */
export const canonicalEvents = (descriptions: Readonly<Record<string, string>>): readonly CatalogueEntry[] =>
  Object.entries(descriptions).map(([event, description]) => ({ event, description }));
export const legacyEvents = (descriptions: Readonly<Record<string, string>>): readonly CatalogueEntry[] =>
  canonicalEvents(descriptions).map((entry) => ({ ...entry, legacy: true }));

/** Makes a `charge.*` or `payout.*` message. `object` is the object that the REST API shows. */
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

/** Makes a `payment.*` or `withdrawal.*` message. */
export const legacyMessage = (event: string, at: Timestamp, data: () => object): Message => ({
  type: event,
  family: 'legacy',
  at,
  render: () => JSON.stringify({ event, data: data() }),
});
