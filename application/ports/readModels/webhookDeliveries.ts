// What processes, re-drives and the sandbox ask of the read model of webhook deliveries.
import type { DeliveryId, EndpointId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Delivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import type { Tenant } from '../paymentProvider.ts';
import type { RedriveFilter, RedrivePlace } from '../redrives.ts';

/** A message that is due and has not ended. */
export interface MessageUnderWay {
  readonly id: string;
  readonly target: string;
  readonly dueAt: Timestamp;
}

export interface DeliveryReads {
  /**
   * Counts the tenant's deliveries that should have been attempted by `now` (account time), or are in the jobs that run now (`running`),
   * and are not at their end; and those held back.
   */
  countDue(
    tenant: Tenant,
    now: Timestamp,
    running: readonly string[],
  ): Promise<{ readonly due: number; readonly held: number }>;
  /** Returns the tenant's deliveries that are due by `until`, or among `sent`, and wait for no timer: the earliest `limit` of them. */
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

/** Of those that were dead-lettered at `until` (account time) or before. */
export interface DeadLetterReads {
  /** Counts those that fit, by endpoint; null: those to payments' own URLs. */
  count(
    tenant: Tenant,
    filter: RedriveFilter,
    until: Timestamp,
  ): Promise<readonly { readonly endpointId: EndpointId | null; readonly deliveries: number }[]>;
  /** Returns those that fit and stand behind `after` (null: from the beginning), oldest first: at most `limit`. */
  page(
    tenant: Tenant,
    filter: RedriveFilter,
    until: Timestamp,
    after: RedrivePlace | null,
    limit: number,
  ): Promise<readonly DeadLetter[]>;
  /** Returns every account and mode that has any. */
  tenants(): Promise<readonly Tenant[]>;
}
