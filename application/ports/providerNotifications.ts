// Notifications from providers. They are stored before they are handled, under a unique reference that belongs to one payment. Their claims
// are not stored; the facts are read from the provider.
import type { PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { JobPayload, JobRequest } from './jobs.ts';
import type { SqlTransaction } from './sql.ts';

export interface NotificationKey {
  readonly tenant: Tenant;
  /** The provider's id of the payment (for Pix the end-to-end id), the fact, or the dispute report. */
  readonly reference: string;
}
export interface ProviderNotification extends NotificationKey {
  /** A kind that a capability declares. */
  readonly kind: string;
  readonly paymentId: PaymentId;
}

/** The jobs that notifications start. */
export interface NotifiedWork {
  /** Returns the job that handles a stored notification of any kind. */
  readonly handling: (key: NotificationKey) => JobRequest;
  /** Returns the queue of the job that notifications of the kind start. */
  readonly queueOf: (kind: string) => string;
}

export interface ProviderNotifications {
  /**
   * Stores a notification and enqueues its job, durably when it resolves. With `tx`, does both in this transaction. Returns
   * false and changes nothing if it was stored before. Exception: a notification that the provider did not confirm is handled again,
   * because it may arrive before the provider's API shows the payment.
   */
  store(notification: ProviderNotification, tx?: SqlTransaction): Promise<boolean>;
  /**
   * Enqueues the job of a kind, without storing a notification: the job asks the provider about the payload's refund, return or payout.
   * With `tx`, runs in it.
   */
  startJob(tenant: Tenant, kind: string, payload: JobPayload, tx?: SqlTransaction): Promise<void>;
  /** Returns for each key whether it has no stored notification, or one that the provider did not confirm. */
  unreported(keys: readonly NotificationKey[]): Promise<readonly boolean[]>;
  /** Returns the stored notification, or null if it is not stored. */
  find(key: NotificationKey): Promise<ProviderNotification | null>;
  /** Marks the notification as handled, with this outcome. */
  markHandled(key: NotificationKey, outcome: 'settled' | 'not_confirmed'): Promise<void>;
  /** Yields all unhandled notifications older than `ageMs`, oldest first, in pages of `page`. Used by the watchdog. */
  unhandled(ageMs: number, page: number): AsyncIterable<readonly NotificationKey[]>;
}
