// How far the read models and the processes are, as this process knows it (architecture §6 "read your writes").

import type { StreamName } from '../../../domain/kernel/event.ts';
import type { Position } from '../eventStore.ts';
import type { Tenant } from '../paymentProvider.ts';

/** The names of read models by where they are registered; the registry of the projections adds the product's. */
// biome-ignore lint/suspicious/noEmptyInterface: each registry adds to it
export interface ReadModels {}
export type ReadModelName = ReadModels[keyof ReadModels];

/** A read model that must be up to date did not catch up in time. A repeat may succeed. */
export class ReadModelsBehind extends Error {
  override name = 'ReadModelsBehind';
}
/** The read model does not take the stream any further, and shows it as it last stood. An operator has to act. */
export class StreamParked extends ReadModelsBehind {
  override name = 'StreamParked';
}

export interface Progress<Name extends string = ReadModelName> {
  /**
   * Waits at most `timeoutMs` until these read models (default: all) have passed the newest event that this process knew of at the call.
   * Returns whether they have. Holds no connection.
   */
  caughtUp(timeoutMs: number, names?: readonly Name[]): Promise<boolean>;
  /** Called whenever one of them moved. Returns the undo. */
  onMove(listener: () => void): () => void;
}

/** Which streams read models do not follow any more, because of an event that they could not take (architecture §7). */
export interface ParkedStreams {
  /** Returns whether the stream is parked. `tenant`: who asks; false for a stream of another tenant. null: anybody who knows its id. */
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

/** Twice the worst case of a read model. */
const COUNTED_MS = 2_000;

/** Waits until a count of the read model's rows can miss none. Throws ReadModelsBehind, with `failure` as its message, after 2 s. */
export const assertCountable = async (caughtUp: CaughtUp, model: ReadModelName, failure: string): Promise<void> => {
  if (!(await caughtUp(model, COUNTED_MS)).isCaughtUp) throw new ReadModelsBehind(failure);
};
