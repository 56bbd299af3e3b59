// What providers tell of payments: stored raw before anything else, under a unique reference that binds one payment.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { JobRequest } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

export interface ProviderNotification {
  readonly tenant: Tenant;
  /** `payment`: one that arrived; `fact`: something else that an acquirer tells of its method. */
  readonly kind: 'payment' | 'fact';
  /** The end-to-end id, or the acquirer's id of the payment or of what it tells. */
  readonly reference: string;
  readonly paymentId: PaymentId;
}

export interface ProviderNotifications {
  /**
   * Stores it and enqueues its settlement, durably; inside `tx` when one is given. Told before: false, nothing changes, unless the
   * provider did not know of it then: a notification may overtake what the provider answers, and is taken up again.
   */
  store(notification: ProviderNotification, raw: string, tx?: Sql): Promise<boolean>;
  /** Of these references: those under which nothing is stored, or only what the provider did not know of when it was asked. */
  untold(tenant: Tenant, references: readonly string[]): Promise<ReadonlySet<string>>;
  find(id: string): Promise<ProviderNotification | null>;
  markHandled(id: string, outcome: 'settled' | 'not_confirmed'): Promise<void>;
  /** Those stored longer than `olderThanMs` ago and not handled, as jobs: work for the watchdog. All of them, `page` at a time. */
  unhandled(olderThanMs: number, page: number): AsyncIterable<readonly JobRequest[]>;
}
