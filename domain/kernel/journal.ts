// Double-entry postings of money events. A wallet is the sum of its postings, and the postings of each event sum to zero.
import type { PaymentId } from './ids.ts';
import { add, type Minor, ZERO } from './money.ts';
import type { Timestamp } from './time.ts';

/** Descriptions of a credit and a debit on an account. */
export type AccountWords = readonly [credit: string, debit: string];

/** Accounts outside merchants' wallets. The aggregate that first posts to a wallet account declares it. */
export const GENERAL_ACCOUNTS = {
  provider_clearing: ['paid out by the provider', 'received by the provider'],
  provider_fees: ['the provider’s fee', 'the provider’s fee refunded'],
  platform_fees: ['into the platform’s account', 'paid by the platform'],
  payer_returns: ['owed to the payer', 'no longer owed to the payer'],
  disputes: ['taken by a dispute', 'released from the disputes account'],
} as const satisfies { readonly [account: string]: AccountWords };

/** Ledger accounts by the aggregate that declares them, which extends this interface beside its postings. */
export interface LedgerAccounts {
  readonly general: keyof typeof GENERAL_ACCOUNTS;
}
/**
 * Credits are positive: a merchant's balance, earned fees and debts to payers grow with positive amounts. The clearing account decreases by
 * the amount that the provider holds for the platform.
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

/** The parts of a merchant's money: available, awaiting release, and held by disputes. */
const MERCHANT_PARTS = {
  merchant_available: 'available',
  merchant_pending: 'pending',
  merchant_retained: 'retained',
} as const;
type MerchantAccount = keyof typeof MERCHANT_PARTS;
export const MERCHANT_ACCOUNTS = Object.keys(MERCHANT_PARTS) as readonly MerchantAccount[];

/** Signed minor units. */
export interface MerchantSums {
  readonly available: Minor;
  readonly pending: Minor;
  readonly retained: Minor;
}
export const NO_MONEY: MerchantSums = { available: ZERO, pending: ZERO, retained: ZERO };

export const addSums = (a: MerchantSums, b: MerchantSums): MerchantSums => ({
  available: add(a.available, b.available),
  pending: add(a.pending, b.pending),
  retained: add(a.retained, b.retained),
});

/** Returns all money of the merchant. */
export const totalOf = ({ available, pending, retained }: MerchantSums): Minor =>
  add(add(available, pending), retained);

/** Returns by how much the postings change each part of a merchant's money. */
export const merchantSums = (postings: readonly Pick<Posting, 'account' | 'amount'>[]): MerchantSums => {
  const sums = { ...NO_MONEY };
  for (const { account, amount } of postings) {
    const part = MERCHANT_PARTS[account as MerchantAccount];
    if (part !== undefined) sums[part] = add(sums[part], amount);
  }
  return sums;
};

/** A change of a tranche: money of a settlement that awaits release, or the end of that wait. */
export type TrancheChange =
  | { readonly kind: 'held'; readonly currency: string; readonly amount: Minor; readonly releaseAt: Timestamp }
  | { readonly kind: 'released' };

/**
 * The postings of an aggregate's events. Its members are methods, because TypeScript compares method parameters in both directions, so
 * that the postings of different aggregates fit into one list.
 */
export interface Postings<Event> {
  /** Accounts that the aggregate declares. Default: none. */
  readonly accounts?: { readonly [account in LedgerAccount]?: AccountWords };
  /** Types of events that never move money. Default: none. */
  readonly idleTypes?: readonly string[];
  /** Returns the event's balanced entry in one currency, or null if the event moves no money. */
  entryOf(event: Event): JournalEntry | null;
  /** Returns the event's change to the tranche of its stream, which has at most one. Default: null. */
  trancheOf?(event: Event): TrancheChange | null;
  /** Returns why the event moved money, for operators; null if it moved none. Default: null. */
  whyOf?(event: Event): string | null;
  /** Returns the payment of the entry. `subject` is the stream name after the category. Default: null. */
  paymentOf?(subject: string, event: Event): PaymentId | null;
}
