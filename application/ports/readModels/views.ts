// Queries on read models for routes and operators, restricted to one account and mode unless stated otherwise.
import type {
  AccountId,
  DeliveryId,
  EndpointId,
  KeyId,
  PaymentId,
  RefundId,
  StreamName,
  Tenant,
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

// --- Commands' queries on the read model of webhook endpoints ---

export interface EndpointReads {
  /** Returns the number of the tenant's endpoints, inactive ones included. The count is never stale. Throws ReadModelsBehind. */
  count(tenant: Tenant): Promise<number>;
  /** Returns the subscribed event names of each active endpoint of the tenant. */
  subscriptions(tenant: Tenant): Promise<readonly (readonly string[])[]>;
}

export type RefundView = ReturnType<typeof refundView>;

/** Queries on refunds. The payment's row has the request and the outcome, the refund's own row its progress. */
export interface RefundViews {
  /** Returns the refunds of a payment, newest first, or null if there is no such payment. */
  list(tenant: Tenant, id: PaymentId): Promise<readonly RefundView[] | null>;
  /** Returns a refund that was submitted to the provider, or null if there is no such refund. */
  find(tenant: Tenant, id: RefundId): Promise<RefundView | null>;
}

export interface CurrencyBalance {
  readonly currency: string;
  /** All in minor units. */
  readonly available: number;
  readonly pending: number;
  /** Held by open disputes. */
  readonly retained: number;
  /** When the next held amount is released, and how much; null: nothing is held. */
  readonly nextRelease: { readonly at: Timestamp; readonly amount: number } | null;
}

export interface KeptPosting {
  /** Revision of the event in its stream. */
  readonly revision: number;
  readonly line: number;
  readonly account: LedgerAccount;
  readonly currency: string;
  readonly amount: number;
}

/** The amount that becomes available on one day. */
export interface Release {
  /** Civil day of São Paulo, `yyyy-mm-dd`. */
  readonly day: string;
  readonly currency: string;
  readonly amount: number;
  readonly payments: number;
}

export interface WalletViews {
  /** Returns the held amounts by the day of their release, the nearest first, at most `limit` days and currencies. */
  releases(tenant: Tenant, limit: number): Promise<readonly Release[]>;
  /** Returns the balances of all currencies ever used, in alphabetical order. */
  balances(tenant: Tenant): Promise<readonly CurrencyBalance[]>;
  /** Returns the postings of a stream, of any tenant, in the order of their events. */
  postings(stream: StreamName): Promise<readonly KeptPosting[]>;
}

export interface StatsViews {
  /** Returns the daily counts in the window, in no particular order. If the window names a currency, only for that currency. */
  dayRows(tenant: Tenant, window: MetricsWindow): Promise<readonly DayRow[]>;
  /** Returns the time to pay of payments that were paid in the window. */
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
  /** Returns deliveries newest first, then by id. `total` counts all that match. `running`: the tenant's ids in running jobs. */
  list(
    tenant: Tenant,
    filter: DeliveryFilter,
    running: readonly string[],
  ): Promise<{ readonly deliveries: readonly ListedDelivery[]; readonly total: number }>;
  /** Returns the delivery, or null if the tenant has no such delivery. */
  find(tenant: Tenant, id: DeliveryId, running: readonly string[]): Promise<ListedDelivery | null>;
  /** Returns the number of the tenant's deliveries by status. */
  stats(tenant: Tenant, running: readonly string[]): Promise<Readonly<Record<DeliveryStatus, number>>>;
}

export interface EndpointViews {
  /** Returns the tenant's endpoints that were not deleted, oldest first. */
  list(tenant: Tenant): Promise<readonly ExistingEndpoint[]>;
}

export interface KnownKey extends Tenant {
  readonly keyId: KeyId;
  /** SHA-256 of the key, 64 hex characters. */
  readonly fingerprint: string;
}

export interface KeyViews {
  /** Returns the key with this fingerprint, of any account, or null if no key has it. */
  find(fingerprint: string): Promise<KnownKey | null>;
}

export interface ListedAccount {
  readonly accountId: AccountId;
  readonly name: string;
  /** The owner's email address. */
  readonly email: string;
  readonly openedAt: Timestamp;
  /** null: the account is not suspended. */
  readonly suspendedAt: Timestamp | null;
}

/** A page of a list. If omitted, the whole list is returned. */
interface ListPage<Id> {
  /** The last item of the previous page; null: start at the beginning. If it does not exist, the page is empty. */
  readonly after: Id | null;
  readonly limit: number;
}

export interface AccountViews {
  /** Returns the accounts in the order in which they were opened. */
  list(page?: ListPage<AccountId>): Promise<readonly ListedAccount[]>;
}

export interface ListedUser extends Pick<KnownUser, 'userId' | 'accountId' | 'email' | 'name' | 'role' | 'status'> {
  readonly addedAt: Timestamp;
  /** An invited user has none, and can't log in yet. */
  readonly hasPassword: boolean;
}

export interface UserViews {
  /** Returns the users of the account, or of all accounts (null), in the order in which they were added. */
  list(accountId: AccountId | null, page?: ListPage<UserId>): Promise<readonly ListedUser[]>;
  /** Returns the operators of the platform, in the order in which they were added. */
  operators(page: ListPage<UserId>): Promise<readonly ListedUser[]>;
}
