// Callbacks of institutions (rule V2): admitting and storing them, the job that handles them, and operators' view of them.

import type { AccountId, ConnectionId } from '../../domain/kernel/ids.ts';
import { type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { DAY_MS } from '../../domain/kernel/time.ts';
import { each, job, type OwedSource, owedBy } from '../core/capability.ts';
import { type TakeReturns, type TakeReturnsNeeds, takeReturns } from '../disputes/takeReturns.ts';
import type { JobRequest, PayloadOf } from '../ports/jobs.ts';
import type {
  CallbackFilter,
  CallbackId,
  CallbackReads,
  CallbackSecrets,
  ListedCallback,
  StoredCallback,
} from '../ports/providerCallbacks.ts';
import type { ProviderConnections } from '../ports/providerConnections.ts';
import { type CallbackHandling, callbackJob, handleCallback, startOwnReturns } from './handleCallback.ts';

export interface CallbackNeeds extends CallbackHandling, TakeReturnsNeeds {
  readonly callbackReads: CallbackReads;
  readonly callbackSecrets: CallbackSecrets;
}
export type CallbackOperatorsNeeds = Pick<CallbackNeeds, 'callbackReads'>;

type Owed = Pick<StoredCallback, 'id' | 'connectionId'>;

/**
 * Returns the job of a callback. Each connection counts as a tenant of the queue, so that a flood of one connection, or an institution that
 * does not answer, leaves places to the others.
 */
const handlingOf = ({ id, connectionId }: Owed): Omit<JobRequest<PayloadOf<typeof callbackJob>>, 'queue'> => ({
  tenant: { accountId: connectionId as string as AccountId, mode: 'live' },
  target: connectionId,
  payload: { connectionId, callbackId: id },
});

/** Yields unhandled callbacks, except those of disabled connections, which wait (V5). */
const unhandledCallbacks: OwedSource<CallbackNeeds, Owed> = async function* (needs, { ageMs, page }) {
  for await (const found of needs.providerCallbacks.owed(ageMs, page)) {
    const disabled = await disabledAmong(needs.providerConnections, found);
    yield found.filter(({ connectionId }) => !disabled.has(connectionId));
  }
};

const disabledAmong = async (
  connections: Pick<ProviderConnections, 'statusOf'>,
  found: readonly Owed[],
): Promise<ReadonlySet<ConnectionId>> => {
  const ids = [...new Set(found.map(({ connectionId }) => connectionId))];
  const statuses = await Promise.all(ids.map((id) => connections.statusOf(id)));
  return new Set(ids.filter((_, i) => statuses[i] === 'disabled'));
};

/** The handlers of the returns of a received Pix. */
export const returnsOf = (needs: CallbackNeeds): readonly TakeReturns[] => [startOwnReturns(needs), takeReturns(needs)];

/** How long callbacks are kept. Those that wait for an operator are kept until they are resolved. */
const RETENTION_MS = 90 * DAY_MS;

export const callbackJobs = [
  job(callbackJob, {
    handler: (needs: CallbackNeeds) => each(handleCallback(needs, returnsOf(needs))),
    places: { places: 24, perTarget: 8 },
    idle: 'apart',
    owed: owedBy(unhandledCallbacks, handlingOf),
  }),
];

export const callbackUpkeep = [
  {
    failure: 'old provider callbacks could not be deleted',
    pattern: '20 7 * * * *',
    onlyLeader: true as const,
    run: ({ providerCallbacks }: CallbackNeeds) => providerCallbacks.forget(RETENTION_MS),
  },
];

export const callbackGauges = [
  {
    name: 'provider_callbacks_open',
    help: 'Provider callbacks waiting for an operator (`provider callbacks`).',
    read: ({ callbackReads }: CallbackNeeds) => callbackReads.countOpen(),
  },
];

export interface CallbackUseCases {
  readonly callbackSecrets: CallbackSecrets;
  /** Stores a callback durably. It is handled later. */
  readonly storeCallback: (connectionId: ConnectionId, raw: Uint8Array) => Promise<void>;
}

export const callbackUseCases = ({ providerCallbacks, callbackSecrets }: CallbackNeeds): CallbackUseCases => ({
  callbackSecrets,
  storeCallback: (connectionId, raw) =>
    providerCallbacks.store(connectionId, raw, (id) => ({
      queue: callbackJob.name,
      ...handlingOf({ id, connectionId }),
    })),
});

/** Use cases of operators, also on the command line. */
export const operateCallbacks = ({ callbackReads }: CallbackOperatorsNeeds) => ({
  /** Returns at most `limit` callbacks, newest first. `total` also counts those beyond the limit. */
  listCallbacks: (filter: CallbackFilter, limit: number) => callbackReads.list(filter, limit),
  /** Records that an operator has looked into a callback. Rejects a callback that does not wait for an operator. */
  resolveCallback: async (
    connectionId: ConnectionId | null,
    id: CallbackId,
    by: string,
    reason: string,
  ): Promise<ListedCallback | Rejection> =>
    (await callbackReads.resolve(connectionId, id, by, reason)) ??
    reject('not_found', 'No callback with this id waits for an operator.'),
});
