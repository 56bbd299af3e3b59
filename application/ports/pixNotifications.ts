// What providers tell of Pix that arrived: stored raw before anything else, under a unique end-to-end id that binds one payment.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Tenant } from './paymentProvider.ts';
import type { Sql } from './sql.ts';

export interface PixNotification {
  readonly tenant: Tenant;
  readonly endToEndId: string;
  readonly paymentId: PaymentId;
}

export interface PixNotifications {
  /** Stores it and enqueues its settlement, durably; inside `tx` when one is given. Told before: false, nothing changes. */
  store(notification: PixNotification, raw: string, tx?: Sql): Promise<boolean>;
  find(id: string): Promise<PixNotification | null>;
  markHandled(id: string, outcome: 'settled' | 'not_confirmed'): Promise<void>;
  /** Ids of those stored longer than `olderThanMs` ago and not handled: work for the watchdog. */
  unhandled(olderThanMs: number, limit: number): Promise<readonly string[]>;
}
