// Operators' queries on the ledger.

import type { Tenant } from '../../../domain/kernel/ids.ts';
export interface DisputesRest {
  readonly account_id: string;
  readonly mode: string;
  readonly currency: string;
  /** Signed minor units, never 0: the platform's gain (positive) or loss. */
  readonly rest: number;
}

/** The result of checking the ledger. It is consistent if all sums are 0 and there are no wrong entries or balances. */
export interface LedgerSums {
  readonly sums: readonly { readonly currency: string; readonly sum: number; readonly postings: number }[];
  readonly entries: readonly {
    readonly stream: string;
    /** null: the entry is not about a payment. */
    readonly payment_id: string | null;
    readonly revision: number;
    readonly sum: number;
  }[];
  readonly balances: readonly {
    readonly account_id: string;
    readonly mode: string;
    readonly currency: string;
    readonly ledger_account: string;
    readonly balance: number;
    readonly postings: number;
  }[];
}

export interface LedgerReads {
  sums(): Promise<LedgerSums>;
  /** Returns nonzero balances of the disputes ledger account, of one tenant or (null) of the first 1,000 tenants that have any. */
  disputesRests(tenant: Tenant | null): Promise<readonly DisputesRest[]>;
}
