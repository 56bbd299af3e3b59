// How far the read models and the processes are, as this process knows it (architecture §6 "read your writes").

import type { StreamName } from '../../../domain/kernel/event.ts';
import type { Position } from '../eventStore.ts';
import type { Tenant } from '../paymentProvider.ts';

export type ReadModelName =
  | 'payments'
  | 'refunds'
  | 'wallet'
  | 'webhookEndpoints'
  | 'webhookDeliveries'
  | 'keyring'
  | 'accounts';

/** What must be counted or read exactly could not be in time. A repeat may succeed. */
export class ReadModelsBehind extends Error {
  override name = 'ReadModelsBehind';
}
/** The read model shows what is asked for as it last stood: an operator was told, and has to do something about it. */
export class StreamParked extends ReadModelsBehind {
  override name = 'StreamParked';
}

export interface Progress<Name extends string = ReadModelName> {
  /**
   * Resolves when what this process knew to be in the log at the call has been passed by these, or after `timeoutMs`; default: by all.
   * Holds no connection. True: passed.
   */
  caughtUp(timeoutMs: number, names?: readonly Name[]): Promise<boolean>;
  /** Called whenever one of them moved. Returns the undo. */
  onMove(listener: () => void): () => void;
}

/** Which streams read models do not follow any more, because of an event that they could not take (architecture §7). */
export interface ParkedStreams {
  /** `tenant`: who asks; a stream that is known to be another's is none of theirs. null: whoever knows its id. */
  has(model: ReadModelName, stream: StreamName, tenant: Tenant | null): boolean;
  /** Whether any stream of the tenant is parked there. */
  hasAnyOf(model: ReadModelName, tenant: Tenant): boolean;
}

/**
 * Waits at most `timeoutMs` until the read model has passed whatever was in the log at the call, and holds no connection. `head`: the
 * newest event then; null: the log is empty. Throws EventStoreUnavailable.
 */
export type CaughtUp = (
  model: ReadModelName,
  timeoutMs: number,
) => Promise<{ readonly head: Position | null; readonly isCaughtUp: boolean }>;
