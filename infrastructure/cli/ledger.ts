// The ledger: whether it balances, and every posting of one payment with its words. The ledger explains every number.
import { type EventLog, readDecoded, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { KeptPosting } from '../../application/ports/readModels/views.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { type StreamName, streamName } from '../../domain/kernel/event.ts';
import { type PaymentId, PREFIX } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { journalEntry, type LedgerAccount, movesMoney } from '../../domain/ledger/postings.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import { walletViews } from '../../projections/wallet/queries.ts';
import type { Storage } from '../boot/storage.ts';
import { type CliCommand, UsageError } from './command.ts';
import { amountText, type Screen, table } from './output.ts';
import { platformOf } from './platform.ts';
import { paymentIdOf } from './typed.ts';

const check: CliCommand = {
  name: 'ledger check',
  summary: 'Every entry, and the ledger as a whole, must sum to zero; every balance must be the sum of its postings',
  args: [],
  options: {},
  run: async (world) => {
    const { sums, entries, balances, isBalanced } = await platformOf(world).checkLedger();
    const lines = [
      ...sums.map(({ currency, sum, postings }) => `${currency}: ${postings} postings sum to ${sum}`),
      ...entries.map((entry) => `payment-${entry.payment_id}@${entry.revision} sums to ${entry.sum}`),
      ...balances.map(
        (b) =>
          `${b.account_id} ${b.mode} ${b.currency} ${b.ledger_account}: balance ${b.balance}, postings ${b.postings}`,
      ),
      isBalanced ? 'the ledger balances' : 'the ledger does not balance',
    ];
    return { json: { sums, entries, balances }, text: lines.join('\n'), isBad: !isBalanced };
  },
};

// biome-ignore lint/suspicious/noExplicitAny: a guard is matched by what it finds, whatever it takes
type Found<Guard> = Guard extends (event: any) => event is infer Event ? Event : never;
type MoneyEvent = Found<typeof movesMoney>;

/** Why money moved. */
const WHY: { readonly [Type in MoneyEvent['type']]: (event: Extract<MoneyEvent, { type: Type }>) => string } = {
  TransactionSettled: ({ data }) => `the payer paid by ${data.method} (${data.incoming.providerPaymentId})`,
  TransactionFundsReleased: () => 'the hold on settled money ended',
  TransactionHeld: ({ data }) => `held for review (${data.incoming.providerPaymentId})`,
  TransactionHeldReleased: ({ data }) => `${data.by} let the held Pix pass`,
  TransactionPaymentRejected: ({ data }) => `must not be credited: ${data.reason} (${data.incoming.providerPaymentId})`,
  TransactionPaymentReturned: ({ data }) => `went back to the payer (${data.providerPaymentId})`,
  TransactionRefundReserved: ({ data }) => `refund rf_${data.refundId} was requested`,
  TransactionRefundCompleted: ({ data }) => `refund rf_${data.refundId} reached the payer`,
  TransactionRefundReleased: ({ data }) => `refund rf_${data.refundId} failed: ${data.reason}`,
  TransactionDisputeOpened: ({ data }) => `${data.kind.toLowerCase()} opened`,
  TransactionDisputeResolved: ({ data }) => `dispute ended: ${data.moneyOutcome.replaceAll('_', ' ')}`,
};

/** What a posting does to its account: when it is a credit, and when it is a debit. */
const WHAT: { readonly [Account in LedgerAccount]: readonly [credit: string, debit: string] } = {
  merchant_available: ['into the merchant’s available balance', 'out of the merchant’s available balance'],
  merchant_pending: ['into the merchant’s pending balance', 'out of the merchant’s pending balance'],
  merchant_retained: ['held for a dispute', 'no longer held for a dispute'],
  refunds_in_transit: ['on its way to the payer', 'no longer on its way to the payer'],
  provider_clearing: ['the provider gave it out of what it holds for us', 'the provider holds it for us'],
  provider_fees: ['the provider’s fee', 'the provider’s fee given back'],
  platform_fees: ['the platform’s fee', 'paid by the platform'],
  payer_returns: ['owed to the payer', 'no longer owed to the payer'],
};

/** Returns null when the event moves no money. */
export const whyMoved = (event: PaymentEvent): string | null =>
  movesMoney(event) ? (WHY[event.type] as (event: MoneyEvent) => string)(event) : null;

export const whatMoved = (account: LedgerAccount, amount: number): string => WHAT[account][amount > 0 ? 0 : 1];

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

/** Throws at an event that can't be read. */
async function* eventsOf(log: EventLog, stream: StreamName): AsyncIterable<LoggedEvent> {
  for await (const page of readDecoded(log, stream))
    for (const one of page) {
      if (one instanceof UnreadableEvent) throw one.reason;
      yield one;
    }
}

/** The postings that follow from the payment's events; null: there is no such payment. */
const linesOf = async (log: Storage, id: PaymentId): Promise<readonly Line[] | null> => {
  const lines: Line[] = [];
  const sums = new Map<string, number>();
  let isKnown = false;
  for await (const one of eventsOf(log, streamName.payment(id))) {
    isKnown = true;
    const event = one.event as PaymentEvent;
    const entry = journalEntry(event);
    for (const [line, { account, currency, amount }] of (entry?.postings ?? []).entries()) {
      const key = `${account} ${currency}`;
      const sum = (sums.get(key) ?? 0) + amount;
      sums.set(key, sum);
      const what = `${whatMoved(account, amount)}: ${whyMoved(event) ?? event.type}`;
      const at = entry?.at as Timestamp;
      const { revision } = one;
      lines.push({ revision, line, event: event.type, at, account, currency, amount, sum, what });
    }
  }
  return isKnown ? lines : null;
};

const posting = ({ revision, line, account, currency, amount }: KeptPosting): string =>
  `@${revision}.${line} ${account} ${currency} ${amount}`;

/** What is in only one of both: the ledger as it is kept, and as it follows from the events. */
const differencesOf = async (reads: Sql, id: PaymentId, lines: readonly Line[]): Promise<readonly string[]> => {
  const kept = new Set((await walletViews(reads).postings(id)).map(posting));
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

const HEAD = ['AT', 'REVISION', 'EVENT', 'LEDGER ACCOUNT', 'CURRENCY', 'AMOUNT', 'SUM', 'WHAT'];
const cells = ({ revision, event, at, account, currency, amount, sum, what }: Line): readonly string[] => [
  at,
  `@${revision}`.padEnd(4),
  event.padEnd(26),
  account.padEnd(18),
  currency,
  amountText(amount, currency).padStart(14),
  amountText(sum, currency).padStart(14),
  what,
];

const show: CliCommand = {
  name: 'ledger show',
  summary:
    'Every posting of a payment: when, by which event, on which account, how much, the sum of the account, and why',
  args: [{ name: 'payment' }],
  options: {},
  run: async ({ storage }, { args }) => {
    const id = paymentIdOf(args[0] as string);
    const lines = await linesOf(storage, id);
    if (lines === null) throw new UsageError('There is no such payment.');
    const differences = await differencesOf(storage.reads, id, lines);
    const totals = totalsOf(lines);
    const isBad = differences.length > 0 || totals.some(({ sum }) => sum !== 0);
    const text = (screen: Screen) =>
      [
        lines.length === 0 ? 'no money has moved' : table(screen, HEAD, lines.map(cells)),
        ...totals.map(({ currency, sum }) => `${currency}: all postings sum to ${amountText(sum, currency)}`),
        ...differences,
        ...(differences.length > 0 ? ['if this stays so: npm run cli -- projections verify'] : []),
      ].join('\n');
    return { json: { paymentId: PREFIX.transaction + id, postings: lines, totals, differences }, text, isBad };
  },
};

export const ledgerCommands: readonly CliCommand[] = [check, show];
