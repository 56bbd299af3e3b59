// What is asked of the read model of dispute cases, always of one account and mode but where it is said.
import type { CaseStatus, CaseType, MedCase } from '../../../domain/dispute/medCase.ts';
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

/** A case of any tenant that waits for the platform's operators. */
export interface WaitingCase {
  readonly medCase: MedCase;
  readonly because: 'review' | 'amount_mismatch';
}

/** What operators and the watchdog ask, of all tenants. */
export interface CaseReads {
  /** Returns the cases with an outcome to be reviewed, and those whose reported amount is not the charge's, oldest first. */
  waiting(limit: number): Promise<readonly WaitingCase[]>;
  countUnderWay(): Promise<number>;
  /** Counts the open cases whose deadline has passed, by the clock of each account. */
  countPastDeadline(): Promise<number>;
  countWaiting(): Promise<number>;
  /** Yields the cases whose reminder was due before `before` by the account's clock, `page` at a time. */
  overdueReminders(
    before: Timestamp,
    page: number,
  ): AsyncIterable<readonly { readonly tenant: Tenant; readonly caseId: MedCaseId }[]>;
}
