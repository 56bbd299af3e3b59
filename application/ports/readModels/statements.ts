// Queries for monthly statements, on the ledger of one account, mode and currency.
import type { Tenant } from '../../../domain/kernel/ids.ts';
import type { MerchantSums } from '../../../domain/kernel/journal.ts';
import type { DaySums, KindSums, Movement, StatementMonth } from '../../../domain/presentation/statement.ts';

/** A month as seen at one moment: the opening balance and the days, the kinds or the movements add up to the same closing balance. */
export interface MonthSummary {
  /** The balance before the month. */
  readonly opening: MerchantSums;
  /** Days with movements, in order. */
  readonly days: readonly DaySums[];
  readonly kinds: readonly KindSums[];
  /** In order of time; null if there are more than the limit. */
  readonly movements: readonly Movement[] | null;
}

export interface StatementViews {
  /** Returns the balance before the month. */
  opening(tenant: Tenant, currency: string, month: StatementMonth): Promise<MerchantSums>;
  /** Returns the sums of the month's days, and the balance before them, read in one snapshot. Costs the same however many movements. */
  byDay(tenant: Tenant, currency: string, month: StatementMonth): Promise<Pick<MonthSummary, 'opening' | 'days'>>;
  /** Yields all movements of the month in order of time, page by page. Holds no connection between pages. */
  movements(tenant: Tenant, currency: string, month: StatementMonth): AsyncIterable<readonly Movement[]>;
  /** Returns the month with at most `movementsMax` movements, read in one snapshot. */
  summary(tenant: Tenant, currency: string, month: StatementMonth, movementsMax: number): Promise<MonthSummary>;
}
