// Checks the whole ledger. Lists one stream's postings with explanations, and compares those derived from its events with those stored.
import { AGGREGATES } from '../../domain/aggregates.ts';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import type { LedgerAccount } from '../../domain/kernel/journal.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { wordsOfPosting } from '../../domain/presentation/postingWords.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { KeptPosting, WalletViews } from '../ports/readModels/views.ts';

/**
 * If the ledger is correct, sums are zero, and `entries` and `balances` are empty. `disputes`: remaining balances of the account
 * `disputes`, the platform's gain (positive) or loss (Q11). They don't affect `isBalanced`.
 */
export const checkLedger =
  ({ ledger }: { readonly ledger: LedgerReads }) =>
  async () => {
    const { sums, entries, balances } = await ledger.sums();
    const disputes = await ledger.disputesRests(null);
    const isBalanced = entries.length === 0 && balances.length === 0 && sums.every(({ sum }) => sum === 0);
    return { sums, entries, balances, disputes, isBalanced };
  };

/** A posting derived from an event. */
export interface LedgerLine {
  readonly revision: number;
  /** Index among the postings of its event, from 0. */
  readonly line: number;
  readonly event: string;
  readonly at: Timestamp;
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units; credit is positive. */
  readonly amount: number;
  /** The account's running sum in this stream, after this posting. */
  readonly sum: number;
  /** Describes what the posting does and why. */
  readonly what: string;
}

const BY_CATEGORY = new Map<string, AnyAggregate>(AGGREGATES.map((one) => [one.category, one]));

/** Returns the postings derived from the stream's events, or null if it does not exist. Throws StreamUnreadable. */
const linesOf = async (
  commands: Pick<CommandHandler, 'loadSteps'>,
  stream: StreamName,
): Promise<readonly LedgerLine[] | null> => {
  const aggregate = BY_CATEGORY.get(readStreamName(stream).category);
  if (aggregate === undefined) return null;
  const lines: LedgerLine[] = [];
  const sums = new Map<string, number>();
  let isKnown = false;
  for await (const { event, revision } of commands.loadSteps(aggregate, stream)) {
    isKnown = true;
    const entry = aggregate.postings?.entryOf(event) ?? null;
    if (entry === null) continue;
    const why = aggregate.postings?.whyOf?.(event) ?? event.type;
    for (const [line, { account, currency, amount }] of entry.postings.entries()) {
      const key = `${account} ${currency}`;
      const sum = (sums.get(key) ?? 0) + amount;
      sums.set(key, sum);
      const what = `${wordsOfPosting(account, amount).en}: ${why}`;
      lines.push({ revision, line, event: event.type, at: entry.at, account, currency, amount, sum, what });
    }
  }
  return isKnown ? lines : null;
};

const posting = ({ revision, line, account, currency, amount }: KeptPosting): string =>
  `@${revision}.${line} ${account} ${currency} ${amount}`;

/** Returns postings that are only in the stored ledger, or only follow from the events. */
const differencesOf = (keptPostings: readonly KeptPosting[], lines: readonly LedgerLine[]): readonly string[] => {
  const kept = new Set(keptPostings.map(posting));
  const right = new Set(lines.map(posting));
  return [
    ...[...right].filter((one) => !kept.has(one)).map((one) => `not in the ledger: ${one}`),
    ...[...kept].filter((one) => !right.has(one)).map((one) => `in the ledger, but not in any event: ${one}`),
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

/**
 * Returns a stream's postings, their sums by currency (zero if correct), and the postings that are only in the stored ledger or only
 * follow from the events. Returns null if the stream does not exist. Throws StreamUnreadable.
 */
export const showLedger =
  ({ commands, views }: Needs) =>
  async (stream: StreamName) => {
    const postings = await linesOf(commands, stream);
    if (postings === null) return null;
    const differences = differencesOf(await views.wallet.postings(stream), postings);
    return { postings, totals: totalsOf(postings), differences };
  };
