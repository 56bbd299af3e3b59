// Claims received Pix payments again, whose claims a restore of PostgreSQL lost. Otherwise, if an institution names a Pix of the lost time
// for two payments, both could be credited.
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists } from '../../domain/payment/payment.ts';
import { type Claim, claim } from '../providers/claims.ts';
import { eventsAfter, type LostTimeStorage } from './lostTime.ts';

/** Returns the claim that an event followed, or null. */
const claimOf = async (logged: LoggedEvent, commands: Pick<CommandHandler, 'load'>): Promise<Claim | null> => {
  if (!isOf(logged, PAYMENT) || logged.mode !== 'live' || !('incoming' in logged.event.data)) return null;
  const paymentId = logged.subject as PaymentId;
  const { state } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
  const connectionId = exists(state) ? state.charge.terms.connectionId : null;
  if (connectionId === null) return null;
  return { connectionId, endToEndId: logged.event.data.incoming.providerPaymentId, paymentId };
};

/** Returns how many claims of the events after a position were missing. */
export const claimAgain = async (
  after: Position | null,
  storage: LostTimeStorage,
  commands: Pick<CommandHandler, 'load'>,
  signal: AbortSignal,
): Promise<number> => {
  let added = 0;
  for await (const events of eventsAfter(after, storage, [PAYMENT.category], signal)) {
    const claims: Claim[] = [];
    for (const logged of await storage.codec.decode(events)) {
      const found = logged instanceof UnreadableEvent ? null : await claimOf(logged, commands);
      if (found !== null) claims.push(found);
    }
    await storage.operations.transaction(async (tx) => {
      for (const lost of claims) if ((await claim(tx, lost)).isNew) added++;
    });
  }
  return added;
};
