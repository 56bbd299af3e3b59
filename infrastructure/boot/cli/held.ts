// Pix held for review, because the bank named no payer for a locked charge (decisions M5, O1).
import { type HeldVerdict, reviewHeld } from '../../../application/commands/reviewHeld.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../../domain/payment/payment.ts';
import { transactionStatus } from '../../../domain/wire/status.ts';
import { listHeld } from '../../../projections/payments/held.ts';
import { amountText } from './amounts.ts';
import { type CliCommand, UsageError } from './command.ts';
import { paymentIdOf } from './ids.ts';

const LISTED_MAX = 1_000;

const shown = ({ charge: { terms }, transaction }: ExistingPayment) => {
  if (transaction.status !== 'held') throw new Error(`payment ${terms.paymentId} is not held`);
  const { endToEndId, amount, payer, paidAt } = transaction.receipt;
  return {
    paymentId: PREFIX.transaction + terms.paymentId,
    accountId: PREFIX.account + terms.accountId,
    mode: terms.mode,
    amount,
    currency: terms.currency,
    endToEndId,
    payerName: payer.name,
    expectedPayerTaxId: terms.expectedPayerTaxId,
    heldSince: paidAt,
  };
};

const line = (one: ReturnType<typeof shown>): string =>
  [
    one.heldSince,
    one.paymentId,
    one.accountId,
    one.mode,
    `${one.currency} ${amountText(one.amount, one.currency)}`,
    one.endToEndId,
    `payer ${one.payerName ?? 'not named'}, expected ${one.expectedPayerTaxId ?? 'anybody'}`,
  ].join('  ');

const list: CliCommand = {
  name: 'held list',
  summary: `Pix held for review, longest held first (at most ${LISTED_MAX})`,
  args: [],
  options: {},
  run: async ({ storage }) => {
    const { held, total } = await listHeld(storage.reads, LISTED_MAX);
    const all = held.map(shown);
    const rest = total > all.length ? [`and ${total - all.length} more`] : [];
    const text = total === 0 ? 'nothing is held' : [...all.map(line), ...rest].join('\n');
    return { json: { held: all, total }, text };
  },
};

const command = (verdict: HeldVerdict, summary: string, [done, before]: readonly [string, string]): CliCommand => ({
  name: `held ${verdict}`,
  summary,
  args: ['payment'],
  options: {},
  run: async ({ commands, accounts }, { args }) => {
    const id = paymentIdOf(args[0] as string);
    const reviewed = await reviewHeld({ commands, accounts })(id, verdict, 'operator:cli');
    if (isRejection(reviewed)) throw new UsageError(reviewed.message);
    const { payment, isNew } = reviewed;
    const paymentId = PREFIX.transaction + id;
    const status = transactionStatus(payment);
    return { json: { paymentId, status, isNew }, text: `${paymentId} ${isNew ? done : before}; it is ${status}` };
  },
});

export const heldCommands: readonly CliCommand[] = [
  list,
  command('release', 'Let a held Pix pass: it is credited, and the payment is paid', [
    'was released',
    'was released before',
  ]),
  command('return', 'Send a held Pix back to its payer: the payment becomes refunded once the bank has accepted it', [
    'goes back to its payer',
    'was sent back before',
  ]),
];
