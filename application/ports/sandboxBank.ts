// The payer's side of the sandbox: what only the outside world can do, and sandbox routes let a merchant do (decisions X1).
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Receipt } from '../../domain/transaction/transaction.ts';
import type { Tenant } from './paymentProvider.ts';

export interface SandboxBankPort {
  /** Books a Pix and tells the gateway of it, durably and at once. False: that end-to-end id is in the books already. */
  pay(tenant: Tenant, paymentId: PaymentId, txid: string, receipt: Receipt): Promise<boolean>;
}
