// What only payers, acquirers and their banks can do, and sandbox routes let a merchant do (rules X1–X3). The gateway learns of it through
// notifications and the provider port, as of anything real.
import type { PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../domain/transaction/transaction.ts';
import type { AcquirerFact, Tenant } from './paymentProvider.ts';

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
  /**
   * Decides a refund that the provider works on and notifies the gateway, durably and at once. `failure`: why it is refused; null: it is
   * paid. `at`: account time. Returns the outcome, of now or of an earlier decision; null when the provider has no such refund.
   */
  decideRefund(
    tenant: Tenant,
    refund: { readonly paymentId: PaymentId; readonly refundId: RefundId },
    failure: string | null,
    at: Timestamp,
  ): Promise<'confirmed' | 'refused' | null>;
}
