// Claims received Pix payments again, whose claims a restore of PostgreSQL lost. Otherwise a Pix of the lost time could be credited to
// another payment, too, if an institution names two.
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { type EventLog, UnreadableEvent } from '../../application/ports/eventCodec.ts';
import type { Position } from '../../application/ports/eventStore.ts';
import { isOf, type LoggedEvent } from '../../application/ports/loggedEvent.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { exists } from '../../domain/payment/payment.ts';

interface Claim {
  readonly connectionId: string;
  readonly endToEndId: string;
  readonly paymentId: string;
}

/** A claim is older than its event, and that is older than a checkpoint behind it. So a backup with the checkpoint has the claim. */
const CLAIMED_UP_TO = 'SELECT max(position) AS position FROM subscriptions.checkpoints WHERE store_id = $1';

const ADD = `INSERT INTO operations.received_claims (connection_id, end_to_end_id, payment_id)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING`;

/** Returns the claim that an event followed, or null. */
const claimOf = async (logged: LoggedEvent, commands: Pick<CommandHandler, 'load'>): Promise<Claim | null> => {
  if (!isOf(logged, PAYMENT) || logged.mode !== 'live' || !('incoming' in logged.event.data)) return null;
  const { subject } = logged;
  const { state } = await commands.load(PAYMENT, PAYMENT.stream(subject as PaymentId));
  const connectionId = exists(state) ? state.charge.terms.connectionId : null;
  if (connectionId === null) return null;
  return { connectionId, endToEndId: logged.event.data.incoming.providerPaymentId, paymentId: subject };
};

const addAll = async (db: Sql, claims: readonly Claim[]): Promise<number> => {
  const columns = (['connectionId', 'endToEndId', 'paymentId'] as const).map(
    (name) => new TextArray(claims.map((claim) => claim[name])),
  );
  return claims.length === 0 ? 0 : (await db.query(ADD, columns)).rowCount;
};

/** Returns how many claims were missing. */
export const claimAgain = async (
  { store, codec, operations }: EventLog & { readonly operations: Sql },
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
      const claim = logged instanceof UnreadableEvent ? null : await claimOf(logged, commands);
      if (claim !== null) claims.push(claim);
    }
    added += await addAll(operations, claims);
  }
  return added;
};
