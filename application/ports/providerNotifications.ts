// Notifications of providers, stored raw before anything else is done with them, under a unique reference that binds one payment.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { JobPayload, JobRequest } from './jobs.ts';
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

export interface NotificationKey {
  readonly tenant: Tenant;
  /** The provider's id of the payment (of a Pix the end-to-end id), of the fact, or of the report about a dispute. */
  readonly reference: string;
}
export interface ProviderNotification extends NotificationKey {
  /** One that a capability declares. */
  readonly kind: string;
  readonly paymentId: PaymentId;
}

/** The jobs that notifications lead to. */
export interface NotifiedWork {
  /** Returns the job that handles a stored notification, of whatever kind. */
  readonly handling: (key: NotificationKey) => JobRequest;
  /** Returns the queue of the job that notifications of the kind lead to. */
  readonly queueOf: (kind: string) => string;
}

export interface ProviderNotifications {
  /**
   * Stores a notification and enqueues the job that handles it, durably when it resolves. With `tx`, both are done in it, and its owner
   * calls `wake` after the commit. Returns false, and changes nothing, when it was stored before; but one that the provider did not confirm
   * then is taken up again, because a notification may arrive before the provider's own reads show the payment.
   */
  store(notification: ProviderNotification, raw: string, tx?: Sql): Promise<boolean>;
  /**
   * Enqueues the job that asks the provider about what moved, of a kind that is not stored, in `tx`, whose owner calls `wake` after
   * the commit.
   */
  moved(tenant: Tenant, kind: string, what: JobPayload, tx: Sql): Promise<void>;
  /** Wakes the workers of this process, because there is such work. */
  wake(tenant: Tenant, kind: string): void;
  /** Returns those of `references` under which no notification is stored, or only one that the provider did not confirm. */
  unreported(tenant: Tenant, references: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns null when none is stored. */
  find(key: NotificationKey): Promise<ProviderNotification | null>;
  /** Records how the notification was handled, so that it is not unhandled any more. */
  markHandled(key: NotificationKey, outcome: 'settled' | 'not_confirmed'): Promise<void>;
  /** Yields those stored more than `ageMs` ago and not handled, oldest first: work for the watchdog. All of them, `page` at a time. */
  unhandled(ageMs: number, page: number): AsyncIterable<readonly NotificationKey[]>;
}
