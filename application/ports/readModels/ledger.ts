// What operators watch of the ledger.
import type { Tenant } from '../paymentProvider.ts';

export interface DisputesRest {
  readonly account_id: string;
  readonly mode: string;
  readonly currency: string;
  /** Signed minor units, never 0: the platform's gain (positive) or loss. */
  readonly rest: number;
}

/** Whether the ledger adds up: sums of zero, and no entry or balance that is out. */
export interface LedgerSums {
  readonly sums: readonly { readonly currency: string; readonly sum: number; readonly postings: number }[];
  readonly entries: readonly {
    readonly stream: string;
    /** null: it is not about a payment. */
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
  /** Returns what is left on the account of disputes; of one tenant, or of the first thousand that have any (null). */
  disputesRests(tenant: Tenant | null): Promise<readonly DisputesRest[]>;
}
