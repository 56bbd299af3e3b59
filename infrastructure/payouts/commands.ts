// Commands that list, approve and reject payouts that await approval (rule Y5).

import type { ListedPayout } from '../../application/ports/readModels/payouts.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { parseId } from '../../domain/kernel/ids.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { Review } from '../../domain/payout/decisions.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { accepted, accountIdOf, byOf, type CliCommand, type CliWorld, UsageError } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';

const LISTED_MAX = 1_000;
const REASON_MAX = 500;

/** Returns the id of a payout. Throws UsageError if the text is not one. */
const payoutIdOf = (text: string): PayoutId => {
  const id = parseId<PayoutId>(text, PAYOUT.idPrefix);
  if (id === null) throw new UsageError(`"${text}" is not a payout id: use a po_ id or the 26 characters alone`);
  return id;
};

const HEAD = ['REQUESTED', 'PAYOUT', 'ACCOUNT', 'MODE', 'AMOUNT', 'DESTINATION', 'STATUS'];
const cells = ({ tenant, payout }: ListedPayout): readonly string[] => [
  payout.created_at,
  payout.id,
  ACCOUNT.idPrefix + tenant.accountId,
  tenant.mode,
  `${payout.currency} ${amountText(payout.amount, payout.currency)}`,
  payout.destination ?? '',
  payout.awaiting_approval ? 'awaits approval' : payout.status,
];
const jsonOf = ({ tenant, payout }: ListedPayout) => ({
  accountId: ACCOUNT.idPrefix + tenant.accountId,
  mode: tenant.mode,
  payout,
});
const shown = (one: ListedPayout) => ({
  json: jsonOf(one),
  text: (screen: Screen) => table(screen, HEAD, [cells(one)]),
});

const list: CliCommand = {
  name: 'payout list',
  summary: `List payouts that await approval, oldest first (at most ${LISTED_MAX})`,
  options: { account: { description: 'only payouts of this account' } },
  reads: ['payouts'],
  run: async (world, { options: { account } }) => {
    const accountId = account === undefined ? null : accountIdOf(String(account));
    const { payouts: found } = await world.platform.listPayouts(accountId, LISTED_MAX);
    return {
      json: { payouts: found.map(jsonOf) },
      text: (screen: Screen) =>
        found.length === 0 ? 'no payout awaits approval' : table(screen, HEAD, found.map(cells)),
    };
  },
};

const show: CliCommand = {
  name: 'payout show',
  summary: 'Show a requested payout',
  args: [{ name: 'payout' }],
  run: async (world, { args }) => shown(accepted(await world.platform.showPayout(payoutIdOf(args[0] as string)))),
};

const review = async (world: CliWorld, id: string, verdict: Review) =>
  shown(accepted(await world.platform.reviewPayoutOfAny(payoutIdOf(id), verdict, { ...byOf(world), userId: null })));

const approve: CliCommand = {
  name: 'payout approve',
  summary: 'Approve a payout that awaits approval',
  args: [{ name: 'payout' }],
  changes: 'always',
  run: (world, { args }) => review(world, args[0] as string, { verdict: 'approved' }),
};

const reject: CliCommand = {
  name: 'payout reject',
  summary: 'Reject a payout that awaits approval: it fails, and its money returns to the wallet',
  args: [{ name: 'payout' }],
  options: { reason: { description: `reason, 1 to ${REASON_MAX} characters; stored in the event log` } },
  changes: 'always',
  run: (world, { args, options: { reason } }) => {
    const text = reason === undefined ? null : String(reason).trim();
    if (text !== null && (text === '' || text.length > REASON_MAX))
      throw new UsageError(`--reason must have 1 to ${REASON_MAX} characters`);
    return review(world, args[0] as string, { verdict: 'rejected', reason: text });
  },
};

export const payoutCommands: readonly CliCommand[] = [list, show, approve, reject];
