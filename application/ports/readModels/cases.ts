// What is asked of the read model of dispute cases, always of one account and mode but where it is said.
import type { CaseStatus, CaseType, MedCase, MedCaseState } from '../../../domain/dispute/medCase.ts';
import type { MedCaseId, PaymentId } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';
import type { Tenant } from '../paymentProvider.ts';

export interface CaseFilter {
  readonly status?: CaseStatus;
  readonly type?: CaseType;
  readonly chargeId?: PaymentId;
  /** Exclusive bounds. */
  readonly createdAfter?: Timestamp;
  readonly createdBefore?: Timestamp;
}

export interface CaseViews {
  /** Returns null when the tenant has none such. */
  find(tenant: Tenant, id: MedCaseId): Promise<MedCase | null>;
  /** Returns cases newest first, then by id, after the one given; `limit` + 1 tells whether there are more. null: no such cursor. */
  list(
    tenant: Tenant,
    filter: CaseFilter,
    page: { readonly after: MedCaseId | null; readonly limit: number },
  ): Promise<{ readonly cases: readonly MedCase[]; readonly hasMore: boolean } | null>;
}

/** Why operators must look at a case, or at a report that opened none (Q1, Q3, Q10, Q11). */
export const CASE_WAITS_BECAUSE = ['review', 'amount_mismatch', 'report_not_taken', 'report_contradicts'] as const;
export type CaseWaitsBecause = (typeof CASE_WAITS_BECAUSE)[number];

/** What one case of any tenant waits for. */
export interface WaitingCase {
  readonly id: MedCaseId;
  readonly state: MedCaseState;
  readonly waits: readonly (readonly [because: CaseWaitsBecause, since: Timestamp])[];
}

/** What operators and the watchdog ask, of all tenants. */
export interface CaseReads {
  /** Returns the cases and reports that operators must look at, longest waiting first. */
  waiting(limit: number): Promise<readonly WaitingCase[]>;
  countUnderWay(): Promise<number>;
  /** Counts the open cases whose deadline has passed, by the clock of each account. */
  countPastDeadline(): Promise<number>;
  /** Counts those cases; `because`: those that wait for this reason. */
  countWaiting(because?: CaseWaitsBecause): Promise<number>;
  /** Returns the cases of which a report with the bank's id waits, of all tenants. */
  waitingReports(providerCaseId: string): Promise<readonly MedCaseId[]>;
  countOwedReports(): Promise<number>;
  /** Yields the payments that could not take a report before `before` by the account's clock, `page` at a time. */
  owedReports(
    before: Timestamp,
    page: number,
  ): AsyncIterable<readonly { readonly tenant: Tenant; readonly paymentId: PaymentId }[]>;
  /** Yields the cases whose reminder was due before `before` by the account's clock, `page` at a time. */
  overdueReminders(
    before: Timestamp,
    page: number,
  ): AsyncIterable<readonly { readonly tenant: Tenant; readonly caseId: MedCaseId }[]>;
}
