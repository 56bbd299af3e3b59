// Every posting of one payment: the ledger explains every number.
import { decodeEvent } from '../../application/ports/loggedEvent.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { streamName } from '../../domain/kernel/event.ts';
import { type PaymentId, PREFIX } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { journalEntry, type LedgerAccount } from '../../domain/ledger/postings.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { findPostings, type KeptPosting } from '../../projections/wallet/postings.ts';
import type { Storage } from '../boot/storage.ts';
import { amountText } from './amounts.ts';
import { type CliCommand, UsageError } from './command.ts';
import { paymentIdOf } from './ids.ts';
import { whatMoved, whyMoved } from './ledgerWords.ts';

interface Line {
  readonly revision: number;
  /** Of the postings of its event, from 0. */
  readonly line: number;
  readonly event: PaymentEvent['type'];
  readonly at: Timestamp;
  readonly account: LedgerAccount;
  readonly currency: string;
  /** Signed minor units; credit is positive. */
  readonly amount: number;
  /** Of the account in this payment, after this posting. */
  readonly sum: number;
  readonly what: string;
}

/** The postings that follow from the payment's events; null: there is no such payment. */
const linesOf = async ({ store }: Storage, id: PaymentId): Promise<readonly Line[] | null> => {
  const lines: Line[] = [];
  const sums = new Map<string, number>();
  let isKnown = false;
  for await (const recorded of store.readStream(streamName.payment(id))) {
    isKnown = true;
    const event = decodeEvent(recorded).event as PaymentEvent;
    const entry = journalEntry(event);
    for (const [line, { account, currency, amount }] of (entry?.postings ?? []).entries()) {
      const key = `${account} ${currency}`;
      const sum = (sums.get(key) ?? 0) + amount;
      sums.set(key, sum);
      const what = `${whatMoved(account, amount)}: ${whyMoved(event) ?? event.type}`;
      const at = entry?.at as Timestamp;
      const { revision } = recorded;
      lines.push({ revision, line, event: event.type, at, account, currency, amount, sum, what });
    }
  }
  return isKnown ? lines : null;
};

const posting = ({ revision, line, account, currency, amount }: KeptPosting): string =>
  `@${revision}.${line} ${account} ${currency} ${amount}`;

/** What is in only one of both: the ledger as it is kept, and as it follows from the events. */
const differencesOf = async (reads: Sql, id: PaymentId, lines: readonly Line[]): Promise<readonly string[]> => {
  const kept = new Set((await findPostings(reads, id)).map(posting));
  const right = new Set(lines.map(posting));
  return [
    ...[...right].filter((one) => !kept.has(one)).map((one) => `not in the ledger: ${one}`),
    ...[...kept].filter((one) => !right.has(one)).map((one) => `in the ledger, and follows from no event: ${one}`),
  ];
};

const totalsOf = (lines: readonly Line[]): readonly { currency: string; sum: number }[] =>
  [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, all]) => ({
    currency,
    sum: all.reduce((sum, { amount }) => sum + amount, 0),
  }));

const textOf = ({ revision, event, at, account, currency, amount, sum, what }: Line): string =>
  [
    at,
    `@${revision}`.padEnd(4),
    event.padEnd(26),
    account.padEnd(18),
    currency,
    amountText(amount, currency).padStart(14),
    amountText(sum, currency).padStart(14),
    what,
  ].join('  ');

export const ledgerShow: CliCommand = {
  name: 'ledger show',
  summary:
    'Every posting of a payment: when, by which event, on which account, how much, the sum of the account, and why',
  args: ['payment'],
  options: {},
  run: async ({ storage }, { args }) => {
    const id = paymentIdOf(args[0] as string);
    const lines = await linesOf(storage, id);
    if (lines === null) throw new UsageError('There is no such payment.');
    const differences = await differencesOf(storage.reads, id, lines);
    const totals = totalsOf(lines);
    const isBad = differences.length > 0 || totals.some(({ sum }) => sum !== 0);
    const text = [
      ...lines.map(textOf),
      ...(lines.length === 0 ? ['no money has moved'] : []),
      ...totals.map(({ currency, sum }) => `${currency}: all postings sum to ${amountText(sum, currency)}`),
      ...differences,
      ...(differences.length > 0 ? ['if this stays so: npm run cli -- projections verify'] : []),
    ].join('\n');
    return { json: { paymentId: PREFIX.transaction + id, postings: lines, totals, differences }, text, isBad };
  },
};
