// What processes and the sandbox ask of the read model of webhook deliveries.
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Tenant } from '../paymentProvider.ts';

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
