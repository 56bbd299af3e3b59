// One request of an account's log with the events that it caused, for the account's own users.
import type { AccountId, Mode, RequestLogId } from '../../domain/kernel/ids.ts';
import type { Words } from '../../domain/presentation/eventWords/words.ts';
import { wordsOf } from '../../domain/presentation/eventWords.ts';
import { completeMetadata } from '../core/eventMetadata.ts';
import { type EventLog, UnreadableEvent } from '../ports/eventCodec.ts';
import { UnknownPosition } from '../ports/eventStore.ts';
import type { LoggedRequest, RequestLogReads } from '../ports/requestLog.ts';
import { eventsOfRequests } from './eventsOfRequests.ts';

export interface CausedEvent {
  readonly at: string;
  readonly stream: string;
  readonly mode: Mode;
  /** null: this version can't read the event. */
  readonly words: Words | null;
}

interface OwnRequestsNeeds extends EventLog {
  readonly requestLog: Pick<RequestLogReads, 'find' | 'withRequestId'>;
}

/** Requests with one id that are looked at. */
const SAME_ID_MAX = 50;

/** Returns whether a request may have written events. Refused requests write none (rule K5). */
const mayHaveWritten = ({ method, status }: LoggedRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && (status < 400 || status >= 500);

/**
 * Returns the events that the request caused within 10 s of its answer, in order; null if the log was migrated or restored since, or the
 * signal ended the search.
 */
const causedBy = async (
  { store, codec }: EventLog,
  request: LoggedRequest,
  signal: AbortSignal,
): Promise<readonly CausedEvent[] | null> => {
  if (!mayHaveWritten(request)) return [];
  try {
    const recorded = await eventsOfRequests(store, [request], signal);
    if (signal.aborted) return null;
    const decoded = await codec.decode(recorded);
    return recorded.map(({ recordedAt: at, stream, metadata }, n) => {
      const logged = decoded[n];
      const isReadable = logged !== undefined && !(logged instanceof UnreadableEvent);
      const { mode } = completeMetadata(JSON.parse(metadata), stream);
      return { at, stream, mode, words: isReadable ? wordsOf(logged.event) : null };
    });
  } catch (error) {
    if (!(error instanceof UnknownPosition)) throw error;
    return null;
  }
};

export const ownRequests = (needs: OwnRequestsNeeds) => {
  const { requestLog } = needs;
  return {
    /** Returns null if the account has no such request. `signal` ends the search for events. */
    showRequest: async (
      accountId: AccountId,
      id: RequestLogId,
      signal: AbortSignal,
    ): Promise<{ readonly request: LoggedRequest; readonly events: readonly CausedEvent[] | null } | null> => {
      const request = await requestLog.find(accountId, id);
      return request === null ? null : { request, events: await causedBy(needs, request, signal) };
    },
    /** Returns the account's requests with this `X-Request-Id`, newest first. */
    requestsWithId: (accountId: AccountId, requestId: string): Promise<readonly LoggedRequest[]> =>
      requestLog.withRequestId(requestId, SAME_ID_MAX, accountId),
  };
};
