// Releases funds reserved by payout requests that were interrupted before they were recorded (ADR 0013).

import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { abandonRequest } from '../../domain/payout/decisions.ts';
import { StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
import type { PayoutFunds, Reservation } from '../ports/payoutFunds.ts';

/** Every request is recorded or abandoned well within this time. */
const CUT_OFF_MS = 60_000;

export interface CutOffNeeds extends UseCaseNeeds {
  readonly payoutFunds: PayoutFunds;
}

/**
 * Releases the reservations of interrupted requests. The abandonment is written to the payout's stream first: if the requesting process
 * was only frozen, its append then fails, because it expects an unchanged stream. A repeated request reserves the funds again. The
 * reservation of an unreadable stream stays. The error is thrown after the others are released.
 */
export const freeCutOffRequests = async (needs: CutOffNeeds, cutOffMs = CUT_OFF_MS): Promise<void> => {
  const { payoutFunds } = needs;
  await payoutFunds.forgetPosted();
  const unreadable: StreamUnreadable[] = [];
  for (const reservation of await payoutFunds.olderThan(cutOffMs)) {
    const done = await unlessUnreadable(freeOne(needs, reservation));
    if (done instanceof StreamUnreadable) unreadable.push(done);
  }
  throwFirst(unreadable);
};

const freeOne = async ({ commands, accounts, payoutFunds }: CutOffNeeds, reservation: Reservation): Promise<void> => {
  const { payoutId, accountId, mode } = reservation;
  const decide = abandonRequest(await accounts.now(accountId, mode));
  const metadata = metadataForProcess('payoutRequests', { accountId, mode }, payoutId, payoutId);
  const { reply } = await commands.record(PAYOUT, PAYOUT.stream(payoutId), decide, metadata);
  // If the payout was recorded after all, its reservation is kept until the ledger contains the payout.
  if (reply === 'abandoned') await payoutFunds.release(reservation);
};
