// What routes and operators are shown of the read models, always of one account and mode but where it is said.
import type {
  AccountId,
  DeliveryId,
  EndpointId,
  KeyId,
  Mode,
  PaymentId,
  RefundId,
  UserId,
} from '../../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../../domain/kernel/journal.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { DayRow } from '../../../domain/presentation/dayCounts.ts';
import type { DeliveryNow, DeliveryStatus, ExistingDelivery } from '../../../domain/presentation/delivery.ts';
import type { MetricsWindow, TimeToPay } from '../../../domain/presentation/metrics.ts';
import type { refundView } from '../../../domain/presentation/refund.ts';
import type { KnownUser } from '../../../domain/user/user.ts';
import type { ExistingEndpoint } from '../../../domain/webhookEndpoint/webhookEndpoint.ts';
import type { Tenant } from '../paymentProvider.ts';

export type RefundView = ReturnType<typeof refundView>;

/** The payment's row says what was asked for and how it ended, the refund's own how far it is on its way. */
export interface RefundViews {
  /** Returns the refunds of a payment, newest first; null when there is no such payment. */
  list(tenant: Tenant, id: PaymentId): Promise<readonly RefundView[] | null>;
  /** Returns a refund that was given to the provider; null when there is none such. */
  find(tenant: Tenant, id: RefundId): Promise<RefundView | null>;
}

export interface CurrencyBalance {
  readonly currency: string;
  /** All in minor units. */
  readonly available: number;
  readonly pending: number;
  /** Held by open disputes. */
  readonly retained: number;
  /** When the next held tranches release, and how much then; null when nothing is held. */
  readonly nextRelease: { readonly at: Timestamp; readonly amount: number } | null;
}

export interface KeptPosting {
  /** Of the event in the payment's stream. */
  readonly revision: number;
  readonly line: number;
  readonly account: LedgerAccount;
  readonly currency: string;
  readonly amount: number;
}

export interface WalletViews {
  /** Returns every currency ever used, in alphabetical order. */
  balances(tenant: Tenant): Promise<readonly CurrencyBalance[]>;
  /** Returns the postings of a payment's own stream, whose ever, in the order of their events. */
  postings(id: PaymentId): Promise<readonly KeptPosting[]>;
}

export interface StatsViews {
  /** Returns what was counted on the days of the window, of its currency when it names one; in no order. */
  dayRows(tenant: Tenant, window: MetricsWindow): Promise<readonly DayRow[]>;
  /** Returns how long the payments took that were paid in the window. */
  timeToPay(tenant: Tenant, window: MetricsWindow): Promise<TimeToPay>;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly eventType?: string;
  readonly endpointId?: EndpointId;
  /** 1 to 100. */
  readonly limit: number;
  readonly offset: number;
}

export interface ListedDelivery {
  readonly id: DeliveryId;
  readonly state: ExistingDelivery;
  readonly now: DeliveryNow;
}

export interface DeliveryViews {
  /** Returns deliveries newest first, then by id. `total` counts all that match. `running`: the ids in the jobs that run now. */
  list(
    tenant: Tenant,
    filter: DeliveryFilter,
    running: readonly string[],
  ): Promise<{ readonly deliveries: readonly ListedDelivery[]; readonly total: number }>;
  /** Returns one; null when the tenant has none such. */
  find(tenant: Tenant, id: DeliveryId, running: readonly string[]): Promise<ListedDelivery | null>;
  /** Counts all of the tenant's. */
  stats(tenant: Tenant, running: readonly string[]): Promise<Readonly<Record<DeliveryStatus, number>>>;
}

export interface EndpointViews {
  /** Returns the endpoints that were not deleted, oldest first. */
  list(tenant: Tenant): Promise<readonly ExistingEndpoint[]>;
}

export interface KnownKey {
  readonly keyId: KeyId;
  readonly accountId: AccountId;
  readonly mode: Mode;
  /** SHA-256 of the key, 64 hex characters. */
  readonly fingerprint: string;
}

export interface KeyViews {
  /** Returns the key of this fingerprint, whose ever; null when nobody has it. */
  find(fingerprint: string): Promise<KnownKey | null>;
}

interface ListedAccount {
  readonly accountId: AccountId;
  readonly name: string;
  /** Of its owner. */
  readonly email: string;
  readonly openedAt: Timestamp;
  /** null: it is not suspended. */
  readonly suspendedAt: Timestamp | null;
}

/** A part of a list; without one it is the whole. */
interface ListPage<Id> {
  /** The last one of the part before; null: from the first one on. One that is not there: nothing. */
  readonly after: Id | null;
  readonly limit: number;
}

export interface AccountViews {
  /** Returns the accounts in the order of their opening. */
  list(page?: ListPage<AccountId>): Promise<readonly ListedAccount[]>;
}

export interface ListedUser extends Pick<KnownUser, 'userId' | 'accountId' | 'email' | 'name' | 'role' | 'status'> {
  readonly addedAt: Timestamp;
}

export interface UserViews {
  /** Returns the users of the account, or of all, in the order in which they were added. */
  list(accountId: AccountId | null, page?: ListPage<UserId>): Promise<readonly ListedUser[]>;
}
