// Reports to operators of what only they can go on with.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Tenant } from './paymentProvider.ts';

export interface OperatorAlerts {
  /** The provider refused to send a payment back, which waits in `held list` now. Called once a refusal. */
  returnRefused(
    tenant: Tenant,
    refused: { readonly paymentId: PaymentId; readonly providerPaymentId: string; readonly reason: string },
  ): void;
  /** The provider lists payments with a txid of our form that no charge of the tenant has. Called at most once a run. */
  unmatchedPayments(tenant: Tenant, references: readonly string[]): void;
}
