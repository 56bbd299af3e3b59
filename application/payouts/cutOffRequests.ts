// Money that was set aside for a payout whose request was cut off before it was recorded goes back (ADR 0013).

import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { abandonRequest } from '../../domain/payout/decisions.ts';
import type { Accounts } from '../core/accounts.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { PayoutFunds } from '../ports/payoutFunds.ts';

/** A request is recorded or given up long before. */
const CUT_OFF_MS = 60_000;

export interface CutOffNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly payoutFunds: PayoutFunds;
}

/**
 * The abandonment is written to the payout's stream before the money is freed: a process that was only frozen can't record its request any
 * more, because that append expects the stream as it was. The client's repeat sets the money aside anew.
 */
export const freeCutOffRequests = async (
  { commands, accounts, payoutFunds }: CutOffNeeds,
  cutOffMs = CUT_OFF_MS,
): Promise<void> => {
  await payoutFunds.forgetPosted();
  for (const reservation of await payoutFunds.olderThan(cutOffMs)) {
    const { payoutId, accountId, mode } = reservation;
    const decide = abandonRequest(await accounts.now(accountId, mode));
    const metadata = metadataForProcess('payoutRequests', { accountId, mode }, payoutId, payoutId);
    const { reply } = await commands.record(PAYOUT, PAYOUT.stream(payoutId), decide, metadata);
    // One that was recorded is kept until the ledger has taken it.
    if (reply === 'abandoned') await payoutFunds.release(reservation);
  }
};
