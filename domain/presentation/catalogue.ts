// The event catalogue: names that an endpoint can subscribe to, with those of the legacy envelope last. GET /v1/webhooks/event-catalog
// lists them.
import { AGGREGATES } from '../aggregates.ts';
import type { CatalogueEntry } from '../kernel/publisher.ts';

const published: readonly CatalogueEntry[] = AGGREGATES.flatMap(({ publisher }) => publisher?.catalogue ?? []);
/** Without duplicates, because payouts and the Pix-outs of refunds use the same names. */
const byName: ReadonlyMap<string, CatalogueEntry> = new Map(published.map((entry) => [entry.event, entry]));
const entries = [...byName.values()];

export const EVENT_CATALOGUE: readonly CatalogueEntry[] = [
  ...entries.filter(({ legacy }) => !legacy),
  ...entries.filter(({ legacy }) => legacy),
];

export const isCatalogued = (event: string): boolean => byName.has(event);

/** Returns the first name that an endpoint can't subscribe to, or undefined. `*` stands for all events. */
export const unknownEventIn = (events: readonly string[]): string | undefined =>
  events.find((event) => event !== '*' && !isCatalogued(event));
