// What processes, re-drives and the sandbox ask of the read model of webhook deliveries.
import type { DeliveryId, EndpointId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Delivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import type { Tenant } from '../paymentProvider.ts';
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
   * Yields all deliveries that were due before `before` by the account's clock and wait for no timer, `page` rows at a time. While a test
   * clock is being drained, the drain does what is due by it.
   */
  overdue(before: Timestamp, page: number): AsyncIterable<readonly OverdueDelivery[]>;
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

/** Dead letters that fit, of one endpoint; null: those to payments' own URLs. */
interface DeadLetterCount {
  readonly endpointId: EndpointId | null;
  readonly deliveries: number;
  /** Of these, those that no re-drive under way has yet to come to. */
  readonly free: number;
}

export interface DeadLetterReads {
  /** Counts those that fit and were dead-lettered at `until` (account time) or before. */
  count(tenant: Tenant, filter: RedriveFilter, until: Timestamp): Promise<readonly DeadLetterCount[]>;
  /**
   * Returns those of a re-drive that stand behind the place that it has got to, oldest first: at most `limit`. Left out are those to which
   * a re-drive that was asked for before it has yet to come.
   */
  page(redrive: Redrive & RedriveProgress, limit: number): Promise<readonly DeadLetter[]>;
  /** Returns the oldest of all that were dead-lettered at `until` (account time) or before: at most `limit`, under a re-drive or not. */
  oldest(tenant: Tenant, until: Timestamp, limit: number): Promise<readonly DeadLetter[]>;
  /** Returns every account and mode that has any. */
  tenants(): Promise<readonly Tenant[]>;
}
