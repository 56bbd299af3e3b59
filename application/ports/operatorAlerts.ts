// Alerts operators about problems that need their decision.
import type { MedCaseId, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import type { Minor } from '../../domain/kernel/money.ts';
import type { DisputesRest } from './readModels/ledger.ts';

export interface DisputeAlert {
  readonly paymentId: PaymentId;
  readonly caseId: MedCaseId;
  readonly providerCaseId: string;
  /** `amount_mismatch`, `contradicting`, or why the report can never be applied. */
  readonly because: string;
}

export interface OperatorAlerts {
  /** The provider refused to return a payment, which now waits in `held list`. Called once for each refusal. */
  returnRefused(
    tenant: Tenant,
    refused: { readonly paymentId: PaymentId; readonly providerPaymentId: string; readonly reason: string },
  ): void;
  /** A report about a dispute waits in `med review list`. Called once for each report. */
  disputeReport(tenant: Tenant, report: DisputeAlert): void;
  /** The disputes ledger account has a balance: the bank paid payers another amount than was taken. Called at most once a day. */
  disputesRest(tenant: Tenant, rests: readonly DisputesRest[]): void;
  /**
   * The provider confirmed a return, Pix-out or refund that it had refused before, although the money was already handled otherwise. It
   * now waits in `held list`. Called at least once for each confirmation. `id`: the provider's id.
   */
  confirmedLate(tenant: Tenant, confirmed: { readonly paymentId: PaymentId; readonly id: string }): void;
  /**
   * The provider returned money of a payment without Quita's request: somebody used the bank's own app. Called once for each return.
   * `endToEndId`: that of the payment; `id`: that of the return.
   */
  returnedOutside(
    tenant: Tenant,
    made: { readonly paymentId: PaymentId; readonly endToEndId: string; readonly id: string; readonly amount: Minor },
  ): void;
  /** The provider lists payments with a valid txid that matches no charge of the tenant. Called at most once per run. */
  unmatchedPayments(tenant: Tenant, references: readonly string[]): void;
}
