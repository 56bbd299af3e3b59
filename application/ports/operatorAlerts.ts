// What an operator must come to know of, because no process goes on with it by itself.
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { Tenant } from './paymentProvider.ts';

export interface OperatorAlerts {
  /** The provider refuses to send a payment back: it waits in `held list`. Once a refusal. */
  returnRefused(
    tenant: Tenant,
    refused: { readonly paymentId: PaymentId; readonly providerPaymentId: string; readonly reason: string },
  ): void;
  /** The provider lists payments with a txid such as ours that no charge of the tenant has. At most once a run. */
  unmatchedPayments(tenant: Tenant, references: readonly string[]): void;
}
