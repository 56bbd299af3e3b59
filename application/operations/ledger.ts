// Checks the whole ledger, and lists one payment's postings in words: those that its events call for, compared with those stored.
// The ledger explains every number.
import { ACCOUNT_WORDS } from '../../domain/aggregates.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../domain/kernel/journal.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { journalEntry, whyMoved } from '../../domain/payment/postings.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { DisputesRest, LedgerReads, LedgerSums } from '../ports/readModels/ledger.ts';
import type { KeptPosting, WalletViews } from '../ports/readModels/views.ts';

/** What does not add up; empty lists are the only good answer, beside sums of zero. */
interface LedgerFindings extends LedgerSums {
  /** The rest on the account `disputes`: the platform's gain (positive) or loss (Q11). The ledger balances all the same. */
  readonly disputes: readonly DisputesRest[];
  readonly isBalanced: boolean;
}

export const checkLedger =
  ({ ledger }: { readonly ledger: LedgerReads }) =>
  async (): Promise<LedgerFindings> => {
    const { sums, entries, balances } = await ledger.sums();
    const disputes = await ledger.disputesRests(null);
    const isBalanced = entries.length === 0 && balances.length === 0 && sums.every(({ sum }) => sum === 0);
    return { sums, entries, balances, disputes, isBalanced };
  };

/** A posting that follows from an event of a payment. */
export interface LedgerLine {
  readonly revision: number;
  /** Of the postings of its event, from 0. */
  readonly line: number;
  readonly event: string;
  readonly at: Timestamp;
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units; credit is positive. */
  readonly amount: number;
  /** Of the account in this payment, after this posting. */
  readonly sum: number;
  /** What it does to the account, and why, in words. */
  readonly what: string;
}

interface PaymentLedger {
  readonly paymentId: string;
  readonly postings: readonly LedgerLine[];
  /** Of all of them, by currency: zero. */
  readonly totals: readonly { readonly currency: string; readonly sum: number }[];
  /** Postings that are in only one of both: the ledger as it is kept, and as it follows from the events. None is the only good answer. */
  readonly differences: readonly string[];
}

export const whatMoved = (account: LedgerAccount, amount: number): string => ACCOUNT_WORDS[account][amount > 0 ? 0 : 1];

/** The postings that follow from the payment's events; null: there is no such payment. Throws StreamUnreadable. */
const linesOf = async (
  commands: Pick<CommandHandler, 'loadSteps'>,
  id: PaymentId,
): Promise<readonly LedgerLine[] | null> => {
  const lines: LedgerLine[] = [];
  const sums = new Map<string, number>();
  let isKnown = false;
  for await (const { event, revision } of commands.loadSteps(PAYMENT, PAYMENT.stream(id))) {
    isKnown = true;
    const entry = journalEntry(event);
    if (entry === null) continue;
    for (const [line, { account, currency, amount }] of entry.postings.entries()) {
      const key = `${account} ${currency}`;
      const sum = (sums.get(key) ?? 0) + amount;
      sums.set(key, sum);
      const what = `${whatMoved(account, amount)}: ${whyMoved(event) ?? event.type}`;
      lines.push({ revision, line, event: event.type, at: entry.at, account, currency, amount, sum, what });
    }
  }
  return isKnown ? lines : null;
};

const posting = ({ revision, line, account, currency, amount }: KeptPosting): string =>
  `@${revision}.${line} ${account} ${currency} ${amount}`;

/** What is in only one of both: the ledger as it is kept, and as it follows from the events. */
const differencesOf = (keptPostings: readonly KeptPosting[], lines: readonly LedgerLine[]): readonly string[] => {
  const kept = new Set(keptPostings.map(posting));
  const right = new Set(lines.map(posting));
  return [
    ...[...right].filter((one) => !kept.has(one)).map((one) => `not in the ledger: ${one}`),
    ...[...kept].filter((one) => !right.has(one)).map((one) => `in the ledger, and follows from no event: ${one}`),
  ];
};

const totalsOf = (lines: readonly LedgerLine[]): readonly { currency: string; sum: number }[] =>
  [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, all]) => ({
    currency,
    sum: all.reduce((sum, { amount }) => sum + amount, 0),
  }));

interface Needs {
  readonly commands: Pick<CommandHandler, 'loadSteps'>;
  readonly views: { readonly wallet: Pick<WalletViews, 'postings'> };
}

/** null: there is no such payment. Throws StreamUnreadable. */
export const showLedger =
  ({ commands, views }: Needs) =>
  async (id: PaymentId): Promise<PaymentLedger | null> => {
    const postings = await linesOf(commands, id);
    if (postings === null) return null;
    const differences = differencesOf(await views.wallet.postings(id), postings);
    return { paymentId: PAYMENT.idPrefix + id, postings, totals: totalsOf(postings), differences };
  };
