// Finds and erases personal data outside the event log (rules L1–L3).

import type { DeliveryId, MedCaseId, PaymentId, RefundId, StreamName, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import type { Payout, PayoutId } from '../../domain/payout/payout.ts';
import type { Sql } from './sql.ts';

/** A person, as an operator knows them: a tax id without punctuation, or an email address. */
export type Person = { readonly document: string } | { readonly email: string };

/** The place of an item in the order of creation. */
export interface Place<Id> {
  readonly createdAt: Timestamp;
  readonly id: Id;
}

/** The place of an item among those of all accounts. */
export interface TenantPlace<Id> extends Tenant, Place<Id> {}

/** Reads of payments or payouts of all accounts. `Item`: the state. */
interface PersonalReads<Id, Item> {
  /**
   * Yields items that may concern the person, after `after` in an order of their own, in pages. Reads every item once. The caller confirms
   * each, because ids and texts may contain the same digits by chance.
   */
  mentioning(person: Person, after: TenantPlace<Id> | null): AsyncIterable<readonly Item[]>;
  /** Returns up to `limit` places of a tenant's items created before `before`, after `after`, oldest first. */
  createdBefore(
    tenant: Tenant,
    before: Timestamp,
    after: Place<Id> | null,
    limit: number,
  ): Promise<readonly Place<Id>[]>;
  /** Returns up to `limit` tenants that have any, after `after`, in an order of their own. */
  tenantsAfter(after: Tenant | null, limit: number): Promise<readonly Tenant[]>;
}
export type PersonalPayments = PersonalReads<PaymentId, ExistingPayment>;
export type PersonalPayouts = PersonalReads<PayoutId, Payout>;

/** Finds deliveries of these streams' messages whose rows hold the endpoint's last response. */
export interface PersonalDeliveries {
  withResponse(streams: readonly StreamName[]): Promise<readonly DeliveryId[]>;
}

/** The keys by which the records of an erased payment or payout are found. */
export interface ErasedOwner extends Tenant {
  readonly paymentId: PaymentId | null;
  readonly payoutId: PayoutId | null;
  readonly txid: string | null;
  readonly refundIds: readonly RefundId[];
  readonly caseIds: readonly MedCaseId[];
}

/** Rows of operational tables and of the sandbox bank. */
export interface PersonalRecords {
  /** Blanks the personal data in them. Idempotent. */
  erase(owner: ErasedOwner, tx: Sql): Promise<void>;
}
