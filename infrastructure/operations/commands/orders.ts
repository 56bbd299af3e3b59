// Commands about refunds, payouts and returns that institutions do not answer.
import type { OrderRef, UnansweredOrder } from '../../../application/operations/unansweredOrders.ts';
import { parsePrefixedId, type RefundId } from '../../../domain/kernel/ids.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../../domain/payout/payout.ts';
import { REFUND } from '../../../domain/refund/refund.ts';
import { accepted, byOf, type CliCommand, parsePaymentId, UsageError } from '../../cli/command.ts';
import { amountText, type Screen, table } from '../../cli/output.ts';

const LISTED_MAX = 1_000;

const ANSWERS = { processing: 'under way', unknown: 'unknown', none: 'none recorded' } as const;
const HEAD = ['ASKED SINCE', 'KIND', 'ORDER', 'ACCOUNT', 'AMOUNT', 'PIX', 'LAST ANSWER'];
const cells = (one: UnansweredOrder): readonly string[] => [
  one.askedAt,
  one.kind,
  one.order,
  one.accountId,
  `${one.currency} ${amountText(one.amount, one.currency)}`,
  one.endToEndId ?? '',
  ANSWERS[one.lastAnswer ?? 'none'],
];

const list: CliCommand = {
  name: 'order list',
  summary: `List live refunds, payouts and returns that institutions have not answered for a day, oldest first (at most ${LISTED_MAX})`,
  reads: ['payments', 'payouts'],
  run: async (world) => {
    const orders = await world.platform.listUnansweredOrders(LISTED_MAX);
    const text = (screen: Screen) => table(screen, HEAD, orders.map(cells));
    return { json: { orders }, text: orders.length === 0 ? 'every order was answered within a day' : text };
  },
};

const orderOf = (text: string, pix: string | undefined): OrderRef => {
  const refundId = parsePrefixedId<RefundId>(text, REFUND.idPrefix);
  if (refundId !== null) return { kind: 'refund', refundId };
  const payoutId = parsePrefixedId<PayoutId>(text, PAYOUT.idPrefix);
  if (payoutId !== null) return { kind: 'payout', payoutId };
  const paymentId = parsePaymentId(text);
  if (paymentId === null)
    throw new UsageError(
      `"${text}" is not an order: use the rf_ id of a refund, the po_ id of a payout, or the ch_ or tx_ id of a payment whose Pix is returned`,
    );
  return { kind: 'return', paymentId, endToEndId: pix ?? null };
};

const settle: CliCommand = {
  name: 'order settle',
  summary: 'Enter the outcome of an order that its institution has not answered for a day, after you have asked there',
  args: [{ name: 'order' }],
  options: {
    as: {
      description: 'done: the money arrived; refused: it never will, so it goes back or waits in `held list`',
      required: true,
      choices: ['done', 'refused'],
    },
    reason: { description: 'reason, 1 to 500 characters; stored in the event log', required: true },
    pix: { description: 'end-to-end id; needed if several Pix of a payment are being returned' },
  },
  changes: 'always',
  run: async (world, { args, options }) => {
    const order = args[0] as string;
    const ref = orderOf(order, options['pix'] as string | undefined);
    const outcome = options['as'] as 'done' | 'refused';
    const reason = options['reason'] as string;
    const { isNew } = accepted(await world.platform.enterOrderOutcome(ref, { outcome, reason }, byOf(world)));
    return { json: { order, outcome, isNew }, text: `${order} ${isNew ? 'is' : 'was already'} ${outcome}` };
  },
};

export const orderCommands: readonly CliCommand[] = [list, settle];
