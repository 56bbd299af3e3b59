// Pix held for review, because the bank named no payer for a locked charge, and what the provider refuses to send back (rules M5, O1).
import { type HeldVerdict, reviewHeld } from '../../application/payments/reviewHeld.ts';
import { PREFIX } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import { heldMoney, listHeld } from '../../projections/payments/held.ts';
import { type CliCommand, UsageError } from './command.ts';
import { amountText, type Screen, table } from './output.ts';
import { paymentIdOf } from './typed.ts';

const LISTED_MAX = 1_000;

const shown = (payment: ExistingPayment) =>
  heldMoney(payment).map(({ providerPaymentId, amount, payerName, reason, returnRefused, since }) => {
    const { paymentId, accountId, mode, currency, expectedPayerTaxId } = payment.charge.terms;
    return {
      paymentId: PREFIX.transaction + paymentId,
      accountId: PREFIX.account + accountId,
      mode,
      amount,
      currency,
      providerPaymentId,
      payerName,
      expectedPayerTaxId,
      reason,
      returnRefused,
      heldSince: since,
    };
  });

const HEAD = ['HELD SINCE', 'PAYMENT', 'ACCOUNT', 'MODE', 'AMOUNT', 'PROVIDER ID', 'WHY'];
const cells = (one: ReturnType<typeof shown>[number]): readonly string[] => [
  one.heldSince,
  one.paymentId,
  one.accountId,
  one.mode,
  `${one.currency} ${amountText(one.amount, one.currency)}`,
  one.providerPaymentId,
  one.returnRefused === null
    ? `payer ${one.payerName ?? 'not named'}, expected ${one.expectedPayerTaxId ?? 'anybody'}`
    : `${one.reason}, the provider refuses to send it back: ${one.returnRefused}`,
];

const list: CliCommand = {
  name: 'held list',
  summary: `Pix held for review or refused when sent back, longest held first (at most ${LISTED_MAX} payments)`,
  args: [],
  options: {},
  run: async ({ storage }) => {
    const { held, total } = await listHeld(storage.reads, LISTED_MAX);
    const all = held.flatMap(shown);
    const rest = total > held.length ? `\nand ${total - held.length} more` : '';
    const text = (screen: Screen) => table(screen, HEAD, all.map(cells)) + rest;
    return { json: { held: all, total }, text: total === 0 ? 'nothing is held' : text };
  },
};

const command = (
  verdict: HeldVerdict,
  summary: string,
  [done, before]: readonly [string, string],
  options: CliCommand['options'] = {},
): CliCommand => ({
  name: `held ${verdict}`,
  summary,
  args: [{ name: 'payment' }],
  options,
  changes: 'always',
  run: async ({ commands, accounts, operator }, { args, options: { pix } }) => {
    const id = paymentIdOf(args[0] as string);
    const reviewed = await reviewHeld({ commands, accounts })(id, verdict, operator, (pix as string) ?? null);
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
  command(
    'return',
    'Send a held Pix back to its payer, or ask again where the bank refused; refunded once it has accepted',
    ['goes back to its payer', 'was sent back before'],
    { pix: { description: 'end-to-end id: this one alone, when several of the payment are held' } },
  ),
];
