// What operators watch of the ledger.
import type { Tenant } from '../paymentProvider.ts';

export interface DisputesRest {
  readonly account_id: string;
  readonly mode: string;
  readonly currency: string;
  /** Signed minor units, never 0: the platform's gain (positive) or loss. */
  readonly rest: number;
}

export interface LedgerReads {
  /** Returns what is left on the account of disputes; of one tenant, or of the first thousand that have any (null). */
  disputesRests(tenant: Tenant | null): Promise<readonly DisputesRest[]>;
}
