// Queries on the read model of payments, for routes, operators, commands and processes.
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import type { PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import type { PendingWork } from '../../../domain/payment/pendingWork.ts';
import type { TransactionStatus } from '../../../domain/presentation/status.ts';
import type { TransactionView } from '../../../domain/presentation/transaction.ts';

/** One way to find payments. Texts are compared exactly, unless stated otherwise. */
export type SearchTerm =
  | { readonly by: 'id'; readonly id: PaymentId }
  | { readonly by: 'txid'; readonly txid: string }
  /** End-to-end id of the payment, a return or a refund, or an acquirer's id. */
  | { readonly by: 'reference'; readonly reference: string }
  /** Document of the customer or the payer, in the form of `documentKeyOf`. */
  | { readonly by: 'document'; readonly documentKey: string }
  /** In any case. */
  | { readonly by: 'email'; readonly email: string }
  | { readonly by: 'customerId'; readonly customerId: string }
  | { readonly by: 'amount'; readonly amount: number };

export interface PaymentFilter {
  /** null: any. Otherwise at least one. */
  readonly statuses: readonly TransactionStatus[] | null;
  /** Inclusive bounds of the creation time; null: unbounded. */
  readonly from: Timestamp | null;
  readonly to: Timestamp | null;
  /** Document of the customer, in the form of `documentKeyOf`; null: any. */
  readonly documentKey: string | null;
  /** Inclusive bounds in minor units. */
  readonly amountFrom?: number | null;
  readonly amountTo?: number | null;
  /** Method with which the payment was paid or, before that, can be paid. */
  readonly method?: PaymentMethod | null;
  /** Payments that at least one of these finds; null: any. */
  readonly found?: readonly SearchTerm[] | null;
  /** Like `found`, in addition to it: finds a customer, who has few of the payments. */
  readonly customer?: readonly SearchTerm[] | null;
}
export const EVERY_PAYMENT: PaymentFilter = { statuses: null, from: null, to: null, documentKey: null };

/** The place of a payment in a list. */
export interface Cursor {
  readonly createdAt: Timestamp;
  readonly id: PaymentId;
  readonly amount: number;
}
export const cursorAt = ({ charge: { terms } }: ExistingPayment): Cursor => ({
  createdAt: terms.createdAt,
  id: terms.paymentId,
  amount: terms.amount,
});

/** Payments of the same amount are in the order of creation, and those of the same instant in the order of their ids, or in reverse. */
export interface CursorOrder {
  readonly by: 'createdAt' | 'amount';
  readonly direction: 'asc' | 'desc';
}
export const NEWEST_FIRST: CursorOrder = { by: 'createdAt', direction: 'desc' };

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

/** A payment, or (null) the newest payments of a tenant. */
export interface Watched {
  readonly tenant: Tenant;
  readonly paymentId: PaymentId | null;
}

export interface WatchedPayments {
  readonly payments: readonly ExistingPayment[];
  /** Changes with the payments. Empty without a payment. */
  readonly version: string;
}

export interface PaymentViews {
  /** Returns the tenant's payment, or null if it has none with this id. */
  find(tenant: Tenant, id: PaymentId): Promise<ExistingPayment | null>;
  /** Returns the existing payments among `ids`, of any tenant. For the payer's page, where knowing the raw id grants access. */
  findForPayer(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, ExistingPayment>>;
  /** Returns at most `limit` payments after the cursor, by default newest first, then by id. */
  listAfter(
    tenant: Tenant,
    filter: PaymentFilter,
    after: Cursor | null,
    limit: number,
    order?: CursorOrder,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns one page of payments in this order. Nulls come last in both directions; ties are sorted newest first, then by id. */
  listPage(
    tenant: Tenant,
    filter: PaymentFilter,
    order: PageOrder,
    part: PagePart,
  ): Promise<readonly ExistingPayment[]>;
  /** Returns the watched payments, newest first. */
  watched(watched: Watched): Promise<WatchedPayments>;
  /** Returns the version of each. */
  versions(watched: readonly Watched[]): Promise<readonly string[]>;
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
   * (`unknown`). `unknown` is empty if the read model could not catch up in time. Omits payments whose stream is parked.
   */
  endedAmong(
    ids: readonly PaymentId[],
  ): Promise<{ readonly ended: readonly PaymentId[]; readonly unknown: readonly PaymentId[] }>;
}

export interface HeldPayments {
  /** Returns payments that wait for an operator, longest waiting first. `total` also counts those beyond `limit`. */
  list(limit: number): Promise<{ readonly held: readonly ExistingPayment[]; readonly total: number }>;
}
