// Money events as double-entry postings. A wallet is the sum of its postings; every event's postings sum to zero.
import type { PaymentId } from './ids.ts';
import type { Minor } from './money.ts';
import type { Timestamp } from './time.ts';

/** What a posting does to an account: when it is a credit, and when it is a debit. */
export type AccountWords = readonly [credit: string, debit: string];

/** The accounts outside merchants' wallets. Those inside come with the aggregate that first moves money on them. */
export const GENERAL_ACCOUNTS = {
  provider_clearing: ['the provider gave it out of what it holds for us', 'the provider holds it for us'],
  provider_fees: ['the provider’s fee', 'the provider’s fee given back'],
  platform_fees: ['into the platform’s account', 'paid by the platform'],
  payer_returns: ['owed to the payer', 'no longer owed to the payer'],
  disputes: ['taken by a dispute', 'no longer on the account of disputes'],
} as const satisfies { readonly [account: string]: AccountWords };

/** The accounts by who introduces them. An aggregate adds its own beside its postings. */
export interface LedgerAccounts {
  readonly general: keyof typeof GENERAL_ACCOUNTS;
}
/**
 * Credit is positive: a merchant's balance, fees earned and what is owed to a payer grow with positive amounts, and the clearing
 * account goes down by what the provider holds for us.
 */
export type LedgerAccount = LedgerAccounts[keyof LedgerAccounts];

export interface Posting {
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units, never 0. */
  readonly amount: Minor;
}
export interface JournalEntry {
  readonly at: Timestamp;
  readonly postings: readonly Posting[];
}

export const entry = (
  at: Timestamp,
  currency: string,
  lines: readonly (readonly [LedgerAccount, Minor])[],
): JournalEntry => ({
  at,
  postings: lines.filter(([, amount]) => amount !== 0).map(([account, amount]) => ({ account, currency, amount })),
});

/** What of a settlement waits for its release, from its event on; or the end of that wait. */
export type TrancheChange =
  | { readonly kind: 'held'; readonly currency: string; readonly amount: Minor; readonly releaseAt: Timestamp }
  | { readonly kind: 'released' };

/**
 * What the events of an aggregate post. Its members are methods, so that the postings of different aggregates fit into one list:
 * TypeScript compares the parameters of methods in both directions.
 */
export interface Postings<Event> {
  /** The accounts that it introduces. Default: none. */
  readonly accounts?: { readonly [account in LedgerAccount]?: AccountWords };
  /** Returns the event's entry, of one currency, summing to zero; null when the event moves no money. */
  entryOf(event: Event): JournalEntry | null;
  /** Returns what the event does to the tranche of its stream, which holds one at most. Default: nothing. */
  trancheOf?(event: Event): TrancheChange | null;
  /** Returns the payment that the entry is about. `subject`: the part of the stream's name after the category. Default: none. */
  paymentOf?(subject: string, event: Event): PaymentId | null;
}
