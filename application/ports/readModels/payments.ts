// Queries on the read model of payments, for routes, operators, commands and processes.
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import type { PendingWork } from '../../../domain/payment/pendingWork.ts';
import type { TransactionStatus } from '../../../domain/presentation/status.ts';
import type { TransactionView } from '../../../domain/presentation/transaction.ts';

export interface PaymentFilter {
  /** null: any. Otherwise at least one. */
  readonly statuses: readonly TransactionStatus[] | null;
  /** Inclusive bounds of the creation time; null: unbounded. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** In the form of `documentKeyOf`; null: any. */
  readonly documentKey: string | null;
}

export interface Cursor {
  readonly createdAt: Timestamp;
  readonly id: PaymentId;
}

/** The fields of a Transaction. The list can be sorted by each of them (contract.md List payments query). */
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
  /** Returns the tenant's payment, or null if it has none with this id. */
  find(tenant: Tenant, id: PaymentId): Promise<ExistingPayment | null>;
  /** Returns the existing payments among `ids`, of any tenant. For the payer's page, where knowing the raw id grants access. */
  findForPayer(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, ExistingPayment>>;
  /** Returns at most `limit` payments after the cursor, newest first, then by id. */
  listAfter(
    tenant: Tenant,
    filter: PaymentFilter,
    after: Cursor | null,
    limit: number,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns one page of payments in this order. Nulls come last in both directions; ties are sorted newest first, then by id. */
  listPage(
    tenant: Tenant,
    filter: PaymentFilter,
    order: PageOrder,
    part: PagePart,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns the number of payments with these statuses in this period. */
  count(tenant: Tenant, filter: Pick<PaymentFilter, 'statuses' | 'from' | 'to'>): Promise<number>;
}

export interface OverduePayment {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId;
  readonly work: PendingWork;
}

/** Queries of commands and processes. */
export interface PaymentReads {
  /**
   * Yields all payments with work that was due before `before` by the account's clock, in pages of `page`. Skips work due during the drain
   * of a test clock, which the drain handles.
   */
  overdue(before: Timestamp, page: number): AsyncIterable<readonly OverduePayment[]>;
  /** Returns the tenant's payments with these txids, including all created before the call. Throws ReadModelsBehind. */
  byTxid(tenant: Tenant, txids: readonly string[]): Promise<ReadonlyMap<string, PaymentId>>;
  /** Returns the number of payments, of all tenants, that wait for an operator. */
  countHeld(): Promise<number>;
  /**
   * Returns those of `ids` that expired, were cancelled or failed without being paid (`ended`), and those that were never created
   * (`unknown`). `unknown` is empty if the read model could not catch up in time.
   */
  endedAmong(
    ids: readonly PaymentId[],
  ): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }>;
}

export interface HeldPayments {
  /** Returns payments that wait for an operator, longest waiting first. `total` also counts those beyond `limit`. */
  list(limit: number): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }>;
}
