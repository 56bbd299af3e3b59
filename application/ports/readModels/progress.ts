// Progress of read models and processes, as known to this process (architecture §6 "read your writes").

import type { AccountId, StreamName, Tenant } from '../../../domain/kernel/ids.ts';
import type { Position } from '../eventStore.ts';

/** The names of read models, by registry. The registry of projections adds the product's read models. */
// biome-ignore lint/suspicious/noEmptyInterface: each registry adds to it
export interface ReadModels {}
export type ReadModelName = ReadModels[keyof ReadModels];

/** A required read model did not catch up in time. A retry may succeed. */
export class ReadModelsBehind extends Error {
  override name = 'ReadModelsBehind';
}
/** The read model stopped processing the stream, so its rows are out of date. An operator has to act. */
export class StreamParked extends ReadModelsBehind {
  override name = 'StreamParked';
}

export interface Progress<Name extends string = ReadModelName> {
  /**
   * Waits at most `timeoutMs` until these read models (default: all) have processed the newest event that this process knew at the call.
   * Returns whether they have. `account`: waits only for the partition of this account, where one is divided. Holds no database connection.
   */
  caughtUp(timeoutMs: number, names?: readonly Name[], account?: AccountId): Promise<boolean>;
  /**
   * Calls the listener whenever one of them advances. `of`: only when this one has applied something. Returns a function that removes the
   * listener.
   */
  onMove(listener: () => void, of?: Name): () => void;
}

/** Streams that read models stopped processing because of an event that they could not apply (architecture §7). */
export interface ParkedStreams {
  /** Returns whether the stream is parked; false if it belongs to another tenant than `tenant` (null: any tenant). */
  has(model: ReadModelName, stream: StreamName, tenant: Tenant | null): boolean;
  /** Returns whether any stream of the tenant is parked there. */
  hasAnyOf(model: ReadModelName, tenant: Tenant): boolean;
}

/**
 * Waits at most `timeoutMs` until the read model has processed all events in the log at the call, also those of other processes that this
 * one has not heard of. Holds no database connection. `account`: waits only for its partition, if the read model is divided. `head`: the
 * newest position at the call; null: the log was empty. Throws EventStoreUnavailable.
 */
export type CaughtUp = (
  model: ReadModelName,
  timeoutMs: number,
  account?: AccountId,
) => Promise<{ readonly head: Position | null; readonly isCaughtUp: boolean }>;

/** Twice the longest time that a read model normally needs. */
const COUNTED_MS = 2_000;

/** Waits until the read model's rows can be counted without missing any. Throws ReadModelsBehind with message `failure` after 2 s. */
export const assertCountable = async (caughtUp: CaughtUp, model: ReadModelName, failure: string): Promise<void> => {
  if (!(await caughtUp(model, COUNTED_MS)).isCaughtUp) throw new ReadModelsBehind(failure);
};
