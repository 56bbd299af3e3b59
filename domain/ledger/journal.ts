// Money events as double-entry postings. A wallet is the sum of its postings; every event's postings sum to zero.
import type { Fact } from '../kernel/event.ts';
import type { PaymentId } from '../kernel/ids.ts';
import type { Minor } from '../kernel/money.ts';
import type { Timestamp } from '../kernel/time.ts';

/**
 * Credit is positive: a merchant's balance, fees earned and what is owed to a payer grow with positive amounts, and the clearing
 * account goes down by what the provider holds for us.
 */
export const LEDGER_ACCOUNTS = [
  'merchant_available',
  'merchant_pending',
  'merchant_retained',
  'refunds_in_transit',
  'payouts_in_transit',
  'provider_clearing',
  'provider_fees',
  'platform_fees',
  'payer_returns',
  'disputes',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

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
 * What the events of one category of streams post. Its members are methods, so that the postings of different categories stand in one
 * table (`Ledger`): TypeScript compares the parameters of methods in both directions.
 */
export interface Postings<Event> {
  /** Returns the event's entry, of one currency, summing to zero; null when the event moves no money. */
  entryOf(event: Event): JournalEntry | null;
  /** Returns what the event does to the tranche of its stream, which holds one at most. Default: nothing. */
  trancheOf?(event: Event): TrancheChange | null;
  /** Returns the payment that the entry is about. `subject`: the part of the stream's name after the category. Default: none. */
  paymentOf?(subject: string, event: Event): PaymentId | null;
}

/** Postings by category of streams. */
export interface Ledger {
  readonly [category: string]: Postings<Fact<string, unknown>>;
}
