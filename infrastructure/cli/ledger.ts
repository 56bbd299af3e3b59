// Checks whether the ledger balances, and shows the postings of one payment.
import type { LedgerLine } from '../../application/operations/ledger.ts';
import { type CliCommand, paymentIdOf, UsageError } from './command.ts';
import { amountText, type Screen, table } from './output.ts';

const check: CliCommand = {
  name: 'ledger check',
  summary: 'Check that each entry and the whole ledger sum to zero, and that each balance is the sum of its postings',
  run: async (world) => {
    const { sums, entries, balances, disputes, isBalanced } = await world.platform.checkLedger();
    const lines = [
      ...sums.map(({ currency, sum, postings }) => `${currency}: ${postings} postings sum to ${sum}`),
      ...entries.map((entry) => `${entry.stream}@${entry.revision} sums to ${entry.sum}`),
      ...balances.map(
        (b) =>
          `${b.account_id} ${b.mode} ${b.currency} ${b.ledger_account}: balance ${b.balance}, postings ${b.postings}`,
      ),
      ...disputes.map(
        ({ account_id: account, mode, currency, rest }) =>
          `${account} ${mode} ${currency} disputes: ${rest} left, the platform’s ${rest > 0 ? 'gain' : 'loss'}`,
      ),
      isBalanced ? 'the ledger balances' : 'the ledger does not balance',
    ];
    return { json: { sums, entries, balances, disputes }, text: lines.join('\n'), isBad: !isBalanced };
  },
};

const HEAD = ['AT', 'REVISION', 'EVENT', 'LEDGER ACCOUNT', 'CURRENCY', 'AMOUNT', 'SUM', 'WHAT'];
const cells = ({ revision, event, at, account, currency, amount, sum, what }: LedgerLine): readonly string[] => [
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
  summary: 'Show every posting of a payment: time, event, ledger account, amount, running sum and reason',
  args: [{ name: 'payment' }],
  run: async (world, { args }) => {
    const ledger = await world.platform.showLedger(paymentIdOf(args[0] as string));
    if (ledger === null) throw new UsageError('There is no such payment.');
    const { postings: lines, totals, differences } = ledger;
    const isBad = differences.length > 0 || totals.some(({ sum }) => sum !== 0);
    const text = (screen: Screen) =>
      [
        lines.length === 0 ? 'no postings' : table(screen, HEAD, lines.map(cells)),
        ...totals.map(({ currency, sum }) => `${currency}: all postings sum to ${amountText(sum, currency)}`),
        ...differences,
        ...(differences.length > 0 ? ['if the differences persist: npm run cli -- projections verify'] : []),
      ].join('\n');
    return { json: ledger, text, isBad };
  },
};

export const ledgerCommands: readonly CliCommand[] = [check, show];
