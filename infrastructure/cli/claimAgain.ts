// Claims received Pix payments again, whose claims a restore of PostgreSQL lost. Otherwise a Pix of the lost time could be credited to
// another payment, too, if an institution names two.
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import type { SqlPool } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists } from '../../domain/payment/payment.ts';
import { type Claim, claim } from '../providers/claims.ts';

/** A claim is older than its event, and that is older than a checkpoint behind it. So a backup with the checkpoint has the claim. */
const CLAIMED_UP_TO = 'SELECT max(position) AS position FROM subscriptions.checkpoints WHERE store_id = $1';

/** Returns the claim that an event followed, or null. */
const claimOf = async (logged: LoggedEvent, commands: Pick<CommandHandler, 'load'>): Promise<Claim | null> => {
  if (!isOf(logged, PAYMENT) || logged.mode !== 'live' || !('incoming' in logged.event.data)) return null;
  const paymentId = logged.subject as PaymentId;
  const { state } = await commands.load(PAYMENT, PAYMENT.stream(paymentId));
  const connectionId = exists(state) ? state.charge.terms.connectionId : null;
  if (connectionId === null) return null;
  return { connectionId, endToEndId: logged.event.data.incoming.providerPaymentId, paymentId };
};

/** Returns how many claims were missing. */
export const claimAgain = async (
  { store, codec, operations }: EventLog & { readonly operations: SqlPool },
  commands: Pick<CommandHandler, 'load'>,
  signal: AbortSignal,
): Promise<number> => {
  const { rows } = await operations.query<{ position: Position | null }>(CLAIMED_UP_TO, [store.storeId]);
  const after = rows[0]?.position ?? null;
  const head = await store.head();
  if (head === null || (after !== null && after >= head)) return 0;
  // The event there may have been deleted since.
  const from = after !== null && (await store.eventIdAt(after)) === null ? null : after;
  let added = 0;
  for await (const batch of store.subscribe({ after: from, categories: [PAYMENT.category], signal })) {
    if (batch.kind === 'caughtUp') break;
    if (batch.kind !== 'events') continue;
    const claims: Claim[] = [];
    for (const logged of await codec.decode(batch.events)) {
      const found = logged instanceof UnreadableEvent ? null : await claimOf(logged, commands);
      if (found !== null) claims.push(found);
    }
    await operations.transaction(async (tx) => {
      for (const lost of claims) if ((await claim(tx, lost)).isNew) added++;
    });
  }
  return added;
};
