// Queries on the read model of webhook deliveries, for processes, redrives and the sandbox.
import type { DeliveryId, EndpointId, Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Delivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import type { Redrive, RedriveFilter, RedriveProgress } from '../redrives.ts';

/** A message that is due and has not ended. */
export interface MessageUnderWay {
  readonly id: string;
  readonly target: string;
  readonly dueAt: Timestamp;
}

export interface OverdueDelivery {
  readonly tenant: Tenant;
  readonly deliveryId: DeliveryId;
  readonly target: string;
  readonly dueAt: Timestamp;
}

export interface DeliveryReads {
  /**
   * Yields all deliveries that were due before `before` by the account's clock and wait for no timer, in pages of `page`. Skips work due
   * during the drain of a test clock, which the drain handles.
   */
  overdue(before: Timestamp, page: number): AsyncIterable<readonly OverdueDelivery[]>;
  /**
   * Returns the number of the tenant's unfinished deliveries that should have been attempted by `now` (account time) or are in running jobs
   * (`running`), and the number of those held back.
   */
  countDue(
    tenant: Tenant,
    now: Timestamp,
    running: readonly string[],
  ): Promise<{ readonly due: number; readonly held: number }>;
  /** Returns the earliest `limit` of the tenant's deliveries that are due by `until` or among `sent`, and wait for no timer. */
  underWay(
    tenant: Tenant,
    until: Timestamp,
    sent: readonly string[],
    limit: number,
  ): Promise<readonly MessageUnderWay[]>;
}

export interface DeadLetter {
  readonly id: DeliveryId;
  readonly delivery: Delivery;
}

/** The number of matching dead letters of one endpoint. `endpointId` null: those sent to payments' own URLs. */
interface DeadLetterCount {
  readonly endpointId: EndpointId | null;
  readonly deliveries: number;
  /** The number of them that no running redrive will still send. */
  readonly free: number;
}

export interface DeadLetterReads {
  /** Returns how many dead-lettered deliveries match. `now` is account time. Without a period it reads only the counts, no delivery. */
  total(tenant: Tenant, filter: RedriveFilter, now: Timestamp): Promise<number>;
  /** Counts the matching deliveries that were dead-lettered at `until` (account time) or before, by endpoint. */
  count(tenant: Tenant, filter: RedriveFilter, until: Timestamp): Promise<readonly DeadLetterCount[]>;
  /**
   * Returns at most `limit` deliveries of a redrive after its current place, oldest first. Skips those that an earlier redrive will still
   * send.
   */
  page(redrive: Redrive & RedriveProgress, limit: number): Promise<readonly DeadLetter[]>;
  /** Returns the oldest `limit` deliveries that were dead-lettered at `until` (account time) or before, including those in redrives. */
  oldest(tenant: Tenant, until: Timestamp, limit: number): Promise<readonly DeadLetter[]>;
  /** Returns all tenants that have dead letters, and their numbers. */
  tenants(): Promise<readonly { readonly tenant: Tenant; readonly deliveries: number }[]>;
}
