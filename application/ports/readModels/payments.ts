// What routes, operators, commands and processes read of payments.
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import type { PendingWork } from '../../../domain/payment/pendingWork.ts';
import type { TransactionStatus } from '../../../domain/presentation/status.ts';
import type { TransactionView } from '../../../domain/presentation/transaction.ts';
import type { Tenant } from '../paymentProvider.ts';

export interface PaymentFilter {
  /** null: any. At least one otherwise. */
  readonly statuses: readonly TransactionStatus[] | null;
  /** Both inclusive, of the creation; null: unbounded. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** As `documentKeyOf` gives it; null: any. */
  readonly documentKey: string | null;
}

export interface Cursor {
  readonly createdAt: Timestamp;
  readonly id: PaymentId;
}

/** The fields of a Transaction: the list can be sorted by each (contract.md List payments query). */
export type SortField = keyof TransactionView;
const SORTABLE: { readonly [F in SortField]: true } = {
  id: true,
  status: true,
  amount: true,
  currency: true,
  paymentMethods: true,
  paidWith: true,
  customerName: true,
  customerDocument: true,
  customerEmail: true,
  metadata: true,
  pixQrCode: true,
  pixCopyPaste: true,
  pixExpiresAt: true,
  cardRedirectUrl: true,
  mbEntity: true,
  mbReference: true,
  mbExpiresAt: true,
  boletoBarcode: true,
  boletoLine: true,
  boletoPdfUrl: true,
  boletoExpiresAt: true,
  cryptoAddress: true,
  cryptoAmount: true,
  cryptoNetwork: true,
  cryptoCurrency: true,
  providerFee: true,
  platformFee: true,
  netAmount: true,
  amountRefunded: true,
  createdAt: true,
  paidAt: true,
};
export const SORT_FIELDS = Object.keys(SORTABLE) as readonly SortField[];

export interface PageOrder {
  readonly by: SortField;
  readonly direction: 'asc' | 'desc';
}

export interface PagePart {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

export interface PaymentViews {
  /** Returns the tenant's payment; null when it has none of this id. */
  find(tenant: Tenant, id: PaymentId): Promise<ExistingPayment | null>;
  /** For the payer's page: returns those of `ids` that exist, of any tenant, because knowing the raw id is the permission. */
  findForPayer(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, ExistingPayment>>;
  /** Returns at most `limit` payments, newest first, then by id: those after the cursor. */
  listAfter(
    tenant: Tenant,
    filter: PaymentFilter,
    after: Cursor | null,
    limit: number,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns one page of the payments in this order. Nulls come last in either direction, ties newest first, then by id. */
  listPage(
    tenant: Tenant,
    filter: PaymentFilter,
    order: PageOrder,
    part: PagePart,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns how many payments there are of these statuses and this span. */
  count(tenant: Tenant, filter: Pick<PaymentFilter, 'statuses' | 'from' | 'to'>): Promise<number>;
}

export interface OverduePayment {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId;
  readonly work: PendingWork;
}

/** What commands and processes ask. */
export interface PaymentReads {
  /**
   * Yields all payments with work that was due before `before` by the account's clock, `page` rows at a time. While a test clock is being
   * drained, the drain does what is due by it.
   */
  overdue(before: Timestamp, page: number): AsyncIterable<readonly OverduePayment[]>;
  /** Returns the tenant's payments of these txids, every one that was created before the call. Throws ReadModelsBehind. */
  byTxid(tenant: Tenant, txids: readonly string[]): Promise<ReadonlyMap<string, PaymentId>>;
  /** Returns who created payments on `day` (`yyyy-mm-dd`, UTC, account time) or later. */
  tenantsSince(day: string): Promise<readonly Tenant[]>;
  /** Returns how many payments there are, of all tenants, of which something waits for an operator. */
  countHeld(): Promise<number>;
  /**
   * Returns, of `ids`, those that expired, were cancelled or failed without having been paid, and those that were never created: none,
   * where the read model could not catch up in time.
   */
  endedAmong(
    ids: readonly PaymentId[],
  ): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }>;
}

export interface HeldPayments {
  /** Returns payments of which something waits for an operator, longest first. `total` counts those beyond `limit` too. */
  list(limit: number): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }>;
}
