// Progress of redrives of dead-lettered deliveries (rule W8). Operational data; the results are in the streams of the deliveries.
import type { DeliveryId, EndpointId, RedriveId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobRequest } from './jobs.ts';

/** Selects dead-lettered deliveries. null: no restriction. */
export interface RedriveFilter {
  readonly endpointId: EndpointId | null;
  readonly eventType: string | null;
  /** Both bounds are inclusive. */
  readonly createdFrom: Timestamp | null;
  readonly createdTo: Timestamp | null;
}

/** Selects all dead-lettered deliveries. */
export const ANY_DEAD_LETTER: RedriveFilter = { endpointId: null, eventType: null, createdFrom: null, createdTo: null };

export interface Redrive {
  readonly id: RedriveId;
  readonly tenant: Tenant;
  readonly filter: RedriveFilter;
  /** In account time. Deliveries that were dead-lettered later are not included. */
  readonly askedAt: Timestamp;
  /** The requester, in the form of event metadata. */
  readonly actor: string;
  /** null: an operator requested it. */
  readonly requestId: string | null;
  /** Number of deliveries to send when it was requested. */
  readonly queued: number;
}

/** The sort key of a delivery within a redrive: oldest first. */
interface RedrivePlace {
  readonly scheduledAt: Timestamp;
  readonly id: DeliveryId;
}

export interface RedriveProgress {
  /** Number of deliveries that it has requested so far. */
  readonly requested: number;
  /** Place of the last delivery that was examined; null: none yet. */
  readonly after: RedrivePlace | null;
}

export interface Redrives {
  /** Stores a redrive and its job in one transaction. `job` null: the caller does the work. */
  begin(redrive: Redrive, job: JobRequest | null): Promise<void>;
  /** Returns the redrive, or null if it is done. */
  find(id: RedriveId): Promise<(Redrive & RedriveProgress) | null>;
  /** Records that all deliveries up to `place` were examined and `requested` more were sent. No-op if another process got further. */
  advance(id: RedriveId, place: RedrivePlace, requested: number): Promise<void>;
  /** Returns those of `targets` to which it has sent no probe yet, and marks them as probed. */
  probe(id: RedriveId, targets: readonly string[]): Promise<ReadonlySet<string>>;
  /** Removes a redrive that is done. */
  end(id: RedriveId): Promise<void>;
  /** Yields all redrives without progress for `ageMs` of real time, in pages of `page`. */
  stalled(ageMs: number, page: number): AsyncIterable<readonly Pick<Redrive, 'id' | 'tenant'>[]>;
  /** Returns the running redrives, oldest first, at most `limit`. */
  running(limit: number): Promise<readonly (Redrive & RedriveProgress)[]>;
  /** Returns the number of deliveries that all redrives have yet to send. */
  outstanding(): Promise<number>;
}
