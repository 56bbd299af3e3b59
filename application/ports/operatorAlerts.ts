// Reports to operators of what only they can go on with.
import type { MedCaseId, PaymentId } from '../../domain/kernel/ids.ts';
import type { Tenant } from './paymentProvider.ts';
import type { DisputesRest } from './readModels/ledger.ts';

export interface DisputeAlert {
  readonly paymentId: PaymentId;
  readonly caseId: MedCaseId;
  readonly providerCaseId: string;
  /** `amount_mismatch`, `contradicting`, or why the report can never be taken. */
  readonly because: string;
}

export interface OperatorAlerts {
  /** The provider refused to send a payment back, which waits in `held list` now. Called once a refusal. */
  returnRefused(
    tenant: Tenant,
    refused: { readonly paymentId: PaymentId; readonly providerPaymentId: string; readonly reason: string },
  ): void;
  /** A report about a dispute waits in `med review list`. Called once a report. */
  disputeReport(tenant: Tenant, report: DisputeAlert): void;
  /** The ledger account of disputes has a rest: the bank gave payers another amount than was taken. Called at most once a day. */
  disputesRest(tenant: Tenant, rests: readonly DisputesRest[]): void;
  /**
   * The provider confirmed a return, a Pix-out or a refund that it had refused, when the money had gone another way. It waits in
   * `held list` now. Called at least once a confirmation. `id`: as the provider knows it.
   */
  confirmedLate(tenant: Tenant, confirmed: { readonly paymentId: PaymentId; readonly id: string }): void;
  /** The provider lists payments with a txid of our form that no charge of the tenant has. Called at most once a run. */
  unmatchedPayments(tenant: Tenant, references: readonly string[]): void;
}
