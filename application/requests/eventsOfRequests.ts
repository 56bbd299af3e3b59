// Which events the requests of one id caused. Both stores keep that id in the events' metadata and no index of it: the log is read from
// the position that the request found it at, as far as the request and what followed at once can reach.

import { toMillis } from '../../domain/kernel/time.ts';
import type { EventStore, RecordedEvent } from '../ports/eventStore.ts';
import type { LoggedRequest } from '../ports/requestLog.ts';

/** What is recorded later than so long after the answer is not looked for. */
const FOLLOWING_MS = 10_000;

/** As the event codec stores it. */
interface StoredMetadata {
  readonly account: string;
  /** Left out where the request is the cause. */
  readonly requestId?: string;
  /** The request that caused it, or the event, or what goes on by it: a refund, an instrument, a case. */
  readonly $causationId?: string;
}

/** null: nobody can read it. */
const parsed = <T>(text: string): T | null => {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
};

/** What later events of the same stream may name as their cause: what this one began, like a refund or an instrument. */
const beganBy = ({ data }: RecordedEvent): readonly string[] =>
  Object.values(parsed<Record<string, unknown>>(data) ?? {}).filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );

const inStream = (stream: string, cause: string): string => `${stream} ${cause}`;

const eventsOfRequest = async (
  store: Pick<EventStore, 'subscribe'>,
  { requestId, accountId, createdAt, durationMs, logPosition }: LoggedRequest,
  signal: AbortSignal,
): Promise<readonly RecordedEvent[]> => {
  const until = toMillis(createdAt) + durationMs + FOLLOWING_MS;
  const found: RecordedEvent[] = [];
  const causes = new Set([requestId]);
  for await (const batch of store.subscribe({ after: logPosition, categories: null, signal })) {
    if (batch.kind === 'caughtUp') break;
    if (batch.kind !== 'events') continue;
    for (const event of batch.events) {
      if (Date.parse(event.recordedAt) > until) return found;
      const metadata = parsed<StoredMetadata>(event.metadata);
      if (metadata === null || (accountId !== null && metadata.account !== accountId)) continue;
      const { $causationId: cause = '' } = metadata;
      if (metadata.requestId !== requestId && !causes.has(cause) && !causes.has(inStream(event.stream, cause)))
        continue;
      found.push(event);
      causes.add(event.id);
      for (const id of beganBy(event)) causes.add(inStream(event.stream, id));
    }
  }
  return found;
};

/**
 * Returns the events that were recorded under the requests' one id, and those that followed from them within 10 s of an answer: each once,
 * however many of the requests reach it, in the order in which they were recorded. Throws UnknownPosition where the log is not the one
 * that a request was answered on: it was moved or put back.
 */
export const eventsOfRequests = async (
  store: Pick<EventStore, 'subscribe'>,
  requests: readonly LoggedRequest[],
  signal: AbortSignal,
): Promise<readonly RecordedEvent[]> => {
  const found = new Map<string, RecordedEvent>();
  for (const request of requests)
    for (const event of await eventsOfRequest(store, request, signal)) found.set(event.id, event);
  // Requests of two accounts are looked for one after the other.
  return [...found.values()].sort((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt));
};
