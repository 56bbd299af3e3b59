// How far re-drives of dead-lettered deliveries have got (rule W8). Operational: what one has done is in the streams of the deliveries.
import type { DeliveryId, EndpointId, RedriveId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { JobRequest } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';

/** Which dead-lettered deliveries are meant; null: whatever it is. */
export interface RedriveFilter {
  readonly endpointId: EndpointId | null;
  readonly eventType: string | null;
  /** Both bounds are included. */
  readonly createdFrom: Timestamp | null;
  readonly createdTo: Timestamp | null;
}

/** All of them. */
export const ANY_DEAD_LETTER: RedriveFilter = { endpointId: null, eventType: null, createdFrom: null, createdTo: null };

export interface Redrive {
  readonly id: RedriveId;
  readonly tenant: Tenant;
  readonly filter: RedriveFilter;
  /** Deliveries that were dead-lettered later are not meant. In account time. */
  readonly askedAt: Timestamp;
  /** Who asked, as in metadata. */
  readonly actor: string;
  /** null: an operator asked. */
  readonly requestId: string | null;
  /** How many deliveries it was to send when it was asked for. */
  readonly queued: number;
}

/** Where a delivery stands among those of a re-drive: oldest first. */
interface RedrivePlace {
  readonly scheduledAt: Timestamp;
  readonly id: DeliveryId;
}

export interface RedriveProgress {
  /** Deliveries that it has had sent. */
  readonly requested: number;
  /** Of the last delivery that was looked at; null: none was. */
  readonly after: RedrivePlace | null;
}

export interface Redrives {
  /** Writes it down with its job, in one transaction. `job` null: the caller does the work. */
  begin(redrive: Redrive, job: JobRequest | null): Promise<void>;
  /** Returns null when it is done. */
  find(id: RedriveId): Promise<(Redrive & RedriveProgress) | null>;
  /** Records that everything up to `place` was looked at, and `requested` more were sent. Does nothing when another got further. */
  advance(id: RedriveId, place: RedrivePlace, requested: number): Promise<void>;
  /** Returns those of `targets` to which it has sent no probe yet, and takes it that it does now. */
  probe(id: RedriveId, targets: readonly string[]): Promise<ReadonlySet<string>>;
  /** Forgets it: it is done. */
  end(id: RedriveId): Promise<void>;
  /** Yields those that have not got on for `ageMs` of real time; all, `page` at a time. */
  stalled(ageMs: number, page: number): AsyncIterable<readonly Pick<Redrive, 'id' | 'tenant'>[]>;
  /** Counts the deliveries that all of them have yet to have sent. */
  outstanding(): Promise<number>;
}
