// Actions of payers, acquirers and banks that merchants control through sandbox routes (rules X1–X3). The gateway is informed of them
// through notifications and the provider port, as in live mode.
import type { BankRuling } from '../../domain/dispute/decisions.ts';
import type { PaymentId, RefundId, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import type { AcquirerFact, ProviderCase } from './paymentProvider.ts';

export type PayResult =
  | 'booked'
  /** A payment with this id was booked before. */
  | 'duplicate'
  /** The instrument was cancelled, or has 100 payments. */
  | 'closed';

/** The bank has 20 cases of the charge, or 20 rulings on the case. */
export type Full = 'full';

export interface SandboxBankPort {
  /** Books a payment and notifies the gateway, in one durable step. `force`: also for a cancelled instrument (X1 `late`). */
  pay(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    incoming: IncomingPayment,
    force: boolean,
  ): Promise<PayResult>;
  /** Books an acquirer's fact and notifies the gateway, in one durable step. Returns false if the method already had that fact. */
  report(tenant: Tenant, paymentId: PaymentId, txid: string, fact: AcquirerFact): Promise<boolean>;
  /** Returns the charge of the case with this id, or null if the bank has no such case. */
  findCase(tenant: Tenant, providerCaseId: string): Promise<{ readonly paymentId: PaymentId } | null>;
  /** Returns how many cases of the charge hold no ordinal: those reported without a check, and those that were released. */
  casesOutOfTurn(tenant: Tenant, txid: string): Promise<number>;
  /** Removes the case's ordinal, so that the charge's next dispute can be booked. */
  releaseTurn(tenant: Tenant, providerCaseId: string): Promise<void>;
  /**
   * Books a dispute and notifies the gateway, in one durable step. Returns `known` if one with this id, or with the same `ordinal` on the
   * charge, was booked before, even concurrently. `ordinal` null: reports the dispute without that check.
   */
  openCase(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    opened: Omit<ProviderCase, 'rulings'>,
    ordinal: number | null,
  ): Promise<'booked' | 'known' | Full>;
  /**
   * Books a ruling on a dispute and notifies the gateway, in one durable step. Returns the number of the report, from 2. Returns null if
   * another report was booked first, so that the number would not be `expected` (null: any).
   */
  rule(
    tenant: Tenant,
    paymentId: PaymentId,
    providerCaseId: string,
    ruling: Omit<BankRuling, 'report'>,
    expected: number | null,
  ): Promise<number | null | Full>;
  /**
   * Decides a pending refund and notifies the gateway, in one durable step. `failure`: why it is refused; null: it is paid. `at`: account
   * time. `late`: pays it even if it was refused before. Returns the outcome of this or an earlier decision, or null if the provider has no
   * such refund.
   */
  decideRefund(
    tenant: Tenant,
    refund: { readonly paymentId: PaymentId; readonly refundId: RefundId },
    failure: string | null,
    at: Timestamp,
    late: boolean,
  ): Promise<'confirmed' | 'refused' | null>;
}
