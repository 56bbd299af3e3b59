// The outside world of the sandbox: what only payers, acquirers and their banks can do, and sandbox routes let a merchant do
// (rules X1–X3). The gateway hears of it through the provider port and its notifications, as of anything real.
import type { PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { IncomingPayment } from '../../domain/transaction/transaction.ts';
import type { AcquirerFact, Tenant } from './paymentProvider.ts';

export type PayResult =
  | 'booked'
  /** That end-to-end id is in the books already. */
  | 'duplicate'
  /** The instrument was cancelled. */
  | 'cancelled';

export interface SandboxBankPort {
  /** Books a payment and tells the gateway of it, durably and at once. `force`: lands even on a cancelled instrument (X1 `late`). */
  pay(
    tenant: Tenant,
    paymentId: PaymentId,
    txid: string,
    incoming: IncomingPayment,
    force: boolean,
  ): Promise<PayResult>;
  /** An acquirer has something to tell, durably and at once. Told before of the same method: false, nothing changes. */
  tell(tenant: Tenant, paymentId: PaymentId, txid: string, fact: AcquirerFact): Promise<boolean>;
  /**
   * Decides a refund that the provider works on and tells the gateway, durably and at once. `failure` null: paid; `at`: account time.
   * What became of it, now or before; null: the provider has no such refund.
   */
  decideRefund(
    tenant: Tenant,
    refund: { readonly paymentId: PaymentId; readonly refundId: RefundId },
    failure: string | null,
    at: Timestamp,
  ): Promise<'confirmed' | 'refused' | null>;
}
