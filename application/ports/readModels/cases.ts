// Queries on the read model of dispute cases, restricted to one account and mode unless stated otherwise.
import type { CaseStatus, CaseType, MedCase, MedCaseState } from '../../../domain/dispute/medCase.ts';
import type { CaseWaitsBecause, Waits } from '../../../domain/dispute/waiting.ts';
import type { MedCaseId, PaymentId, Tenant } from '../../../domain/kernel/ids.ts';
import type { Timestamp } from '../../../domain/kernel/time.ts';

export interface CaseFilter {
  readonly status?: CaseStatus;
  readonly type?: CaseType;
  readonly chargeId?: PaymentId;
  /** Exclusive bounds. */
  readonly createdAfter?: Timestamp;
  readonly createdBefore?: Timestamp;
}

export interface CaseViews {
  /** Returns the case, or null if the tenant has no such case. */
  find(tenant: Tenant, id: MedCaseId): Promise<MedCase | null>;
  /** Returns up to `limit` cases after the given one, newest first, then by id. Returns null if there is no case `after`. */
  list(
    tenant: Tenant,
    filter: CaseFilter,
    page: { readonly after: MedCaseId | null; readonly limit: number },
  ): Promise<{ readonly cases: readonly MedCase[]; readonly hasMore: boolean } | null>;
  /** Returns up to `limit` open cases, the nearest deadline first; those without a deadline are last. */
  toAnswer(tenant: Tenant, limit: number): Promise<readonly MedCase[]>;
}

/** A case of any tenant that waits for an operator, with the reasons. */
export interface WaitingCase {
  readonly id: MedCaseId;
  readonly state: MedCaseState;
  readonly waits: Waits;
}

/** Queries of operators and the watchdog, across all tenants. */
export interface CaseReads {
  /** Returns the cases and reports that need an operator, longest waiting first. */
  waiting(limit: number): Promise<readonly WaitingCase[]>;
  countUnderWay(): Promise<number>;
  /** Returns the number of open cases whose deadline has passed, by each account's clock. */
  countPastDeadline(): Promise<number>;
  /** Returns the number of open cases whose deadline comes within `hours`, or has passed. */
  countNearDeadline(hours: number): Promise<number>;
  /** Returns both counts: of `countWaiting` and `countNearDeadline`. */
  countForOperators(hours: number): Promise<{ readonly waiting: number; readonly near: number }>;
  /** Returns up to `limit` of them, the nearest deadline first. */
  nearDeadline(hours: number, limit: number): Promise<readonly MedCase[]>;
  /** Returns the number of cases and reports that need an operator; `because`: only those with this reason. */
  countWaiting(because?: CaseWaitsBecause): Promise<number>;
  /** Returns the cases of all tenants that have a waiting report with this bank's id. */
  waitingReports(providerCaseId: string): Promise<readonly MedCaseId[]>;
  countOwedReports(): Promise<number>;
  /** Yields the payments with a report that could not be applied before `before`, by the account's clock, in pages of `page`. */
  owedReports(before: Timestamp, page: number): AsyncIterable<readonly DueCase[]>;
  /** Yields the cases whose reminder was due before `before`, by the account's clock, in pages of `page`. */
  overdueReminders(before: Timestamp, page: number): AsyncIterable<readonly DueCase[]>;
}

export interface DueCase {
  readonly tenant: Tenant;
  readonly caseId: MedCaseId;
  readonly paymentId: PaymentId;
}
