// Finds the events that the requests with one id caused. The id is in the events' metadata, without an index, so the log is read from the
// position that it had when the request began, until shortly after the request.
import { toMillis } from '../../domain/kernel/time.ts';
import type { StoredMetadata } from '../core/eventMetadata.ts';
import { type EventStore, type RecordedEvent, UnknownPosition } from '../ports/eventStore.ts';
import type { LoggedRequest } from '../ports/requestLog.ts';

/** Events recorded later than this after the response are ignored. */
const FOLLOWING_MS = 10_000;

/** Returns null if the text is not valid JSON. */
const parsed = <T>(text: string): T | null => {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
};

/** Returns ids that later events of the stream may name as their cause: those of objects that this event began, such as a refund. */
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

/** A store rejects a position of another kind of store, from which the log was migrated, as malformed. */
const ofThisLog = (error: unknown): never => {
  throw error instanceof RangeError ? new UnknownPosition(error.message, { cause: error }) : error;
};

/**
 * Returns the events that the requests caused directly or indirectly, up to 10 s after a response: each once, in the order recorded. Throws
 * UnknownPosition if the log was migrated or restored since a request.
 */
export const eventsOfRequests = async (
  store: Pick<EventStore, 'subscribe'>,
  requests: readonly LoggedRequest[],
  signal: AbortSignal,
): Promise<readonly RecordedEvent[]> => {
  const found = new Map<string, RecordedEvent>();
  for (const request of requests)
    for (const event of await eventsOfRequest(store, request, signal).catch(ofThisLog)) found.set(event.id, event);
  // Requests are searched one by one, so their events must be sorted.
  return [...found.values()].sort((a, b) => Date.parse(a.recordedAt) - Date.parse(b.recordedAt));
};
