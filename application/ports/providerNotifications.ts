// What providers tell of payments: stored raw before anything else, under a unique reference that binds one payment.
import type { PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import type { JobRequest } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

export interface NotificationKey {
  readonly tenant: Tenant;
  /** The provider's id of the payment (of a Pix the end-to-end id), or of what else it tells. */
  readonly reference: string;
}
export interface ProviderNotification extends NotificationKey {
  /** `payment`: one that arrived; `fact`: something else that an acquirer tells of its method. */
  readonly kind: 'payment' | 'fact';
  readonly paymentId: PaymentId;
}

export interface RefundRef {
  readonly paymentId: PaymentId;
  readonly refundId: RefundId;
}

/** The jobs that follow from what providers tell. */
export interface NotifiedWork {
  readonly settlement: { readonly queue: string; readonly requestOf: (key: NotificationKey) => JobRequest };
  readonly refund: { readonly queue: string; readonly requestOf: (tenant: Tenant, refund: RefundRef) => JobRequest };
}

export interface ProviderNotifications {
  /**
   * Stores it and enqueues its settlement, durably; inside `tx` when one is given, whose owner calls `wake` after the commit. Stored
   * before: false, nothing changes, unless the provider did not know of it then: a notification may overtake what the provider answers,
   * and is taken up again.
   */
  store(notification: ProviderNotification, raw: string, tx?: Sql): Promise<boolean>;
  /** The provider has moved a refund: it is asked about it, durably; inside `tx`, whose owner calls `wake` after the commit. */
  refundMoved(tenant: Tenant, refund: RefundRef, tx: Sql): Promise<void>;
  wake(tenant: Tenant, what: keyof NotifiedWork): void;
  /** Of these references: those under which nothing is stored, or only what the provider did not know of when it was asked. */
  untold(tenant: Tenant, references: readonly string[]): Promise<ReadonlySet<string>>;
  find(key: NotificationKey): Promise<ProviderNotification | null>;
  markHandled(key: NotificationKey, outcome: 'settled' | 'not_confirmed'): Promise<void>;
  /** Yields those stored more than `ageMs` ago and not handled, oldest first: work for the watchdog. All of them, `page` at a time. */
  unhandled(ageMs: number, page: number): AsyncIterable<readonly NotificationKey[]>;
}
