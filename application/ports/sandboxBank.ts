// What only payers, acquirers and their banks can do, and sandbox routes let a merchant do (rules X1–X3). The gateway learns of it through
// notifications and the provider port, as of anything real.
import type { BankRuling } from '../../domain/dispute/decisions.ts';
import type { PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import type { AcquirerFact, ProviderCase, Tenant } from './paymentProvider.ts';

export type PayResult =
  | 'booked'
  /** A payment with this id was booked before. */
  | 'duplicate'
  /** The instrument was cancelled. */
  | 'cancelled';

export interface SandboxBankPort {
  /** Books a payment and notifies the gateway, durably and at once. `force`: on a cancelled instrument too (X1 `late`). */
  pay(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    incoming: IncomingPayment,
    force: boolean,
  ): Promise<PayResult>;
  /** Books an acquirer's fact and notifies the gateway, durably and at once. Returns false when the method had that fact before. */
  report(tenant: Tenant, paymentId: PaymentId, txid: string, fact: AcquirerFact): Promise<boolean>;
  /** Returns the charge of the case of this name; null when the bank has none. */
  findCase(tenant: Tenant, providerCaseId: string): Promise<{ readonly paymentId: PaymentId } | null>;
  /**
   * Books a dispute and notifies the gateway, durably and at once. Returns false when one of this name, or of the same `ordinal` on the
   * charge, was booked before: of two at once one is booked. `ordinal` null: the bank reports it without asking.
   */
  openCase(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    opened: Omit<ProviderCase, 'rulings'>,
    ordinal: number | null,
  ): Promise<boolean>;
  /**
   * Books what is ruled of a dispute and notifies the gateway, durably and at once. Returns the number of the report, from 2; null when it
   * is not the `expected` one (null: any), because another was booked first.
   */
  rule(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    providerCaseId: string,
    ruling: Omit<BankRuling, 'report'>,
    expected: number | null,
  ): Promise<number | null>;
  /**
   * Decides a refund that the provider works on and notifies the gateway, durably and at once. `failure`: why it is refused; null: it is
   * paid. `at`: account time. `late`: it is paid even if it was refused before. Returns the outcome, of now or of an
   * earlier decision; null when the provider has no such refund.
   */
  decideRefund(
    tenant: Tenant,
    refund: { readonly paymentId: PaymentId; readonly refundId: RefundId },
    failure: string | null,
    at: Timestamp,
    late: boolean,
  ): Promise<'confirmed' | 'refused' | null>;
}
