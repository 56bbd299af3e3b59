// The request log: upkeep, and search by request id. The HTTP processes write the log.

import { capability } from '../core/capability.ts';
import type { NeedsOf } from '../core/useCase.ts';
import { type EventStore, type RecordedEvent, UnknownPosition } from '../ports/eventStore.ts';
import type { LoggedRequest, RequestLogReads, RequestLogUpkeep } from '../ports/requestLog.ts';
import type { RequestMinutes } from '../ports/requestShares.ts';
import { eventsOfRequests } from './eventsOfRequests.ts';
import { ownRequests } from './ownRequests.ts';

interface FindingNeeds {
  readonly requestLog: Pick<RequestLogReads, 'withRequestId'>;
  readonly store: Pick<EventStore, 'subscribe'>;
}

/** Clients may send one id with many requests; only the newest are shown. */
export const REQUESTS_SHOWN_MAX = 20;

/**
 * Returns the newest requests of the last 30 days with this id, and the events that they caused, in order. `events` is null if the log was
 * migrated or restored since.
 */
const findRequest =
  ({ requestLog, store }: FindingNeeds) =>
  async (
    requestId: string,
    signal: AbortSignal,
  ): Promise<{ readonly requests: readonly LoggedRequest[]; readonly events: readonly RecordedEvent[] | null }> => {
    const requests = await requestLog.withRequestId(requestId, REQUESTS_SHOWN_MAX);
    try {
      return { requests, events: await eventsOfRequests(store, requests.toReversed(), signal) };
    } catch (error) {
      if (!(error instanceof UnknownPosition)) throw error;
      return { requests, events: null };
    }
  };

type RequestsNeeds = NeedsOf<typeof ownRequests> & { readonly requestUpkeep: RequestMinutes & RequestLogUpkeep };

export const requests = capability({
  name: 'requests',
  parts: (needs: RequestsNeeds) => needs,
  upkeep: [
    {
      failure: 'old rate limit minutes could not be removed',
      pattern: '0 */10 * * * *',
      run: ({ requestUpkeep }) => requestUpkeep.forgetOldMinutes(),
    },
    {
      failure: 'partitions of the request log could not be maintained',
      // Often, because an old partition can't be dropped while somebody reads the log.
      pattern: '30 */5 * * * *',
      onlyLeader: true,
      run: ({ requestUpkeep }) => requestUpkeep.keepDays(),
    },
  ],
  useCases: ownRequests,
  operators: (needs: FindingNeeds) => ({ findRequest: findRequest(needs) }),
});
