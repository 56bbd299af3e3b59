// Retries a parked stream: applies its events from the failed one to the consumer's checkpoint, in order, in the transaction that unparks
// it. Events that an operator skipped in the meantime are left out.

import type { RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession, Sql } from '../../application/ports/sql.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { LostLeadership, moveCheckpoints, type Places } from './checkpoints.ts';
import { haveStored, type LeaderHooks, type Member, standingOf, takenOf } from './lanes.ts';
import { type ParkedRow, type ParkedStream, park, unpark } from './parkedStreams.ts';
import {
  applyCarefully,
  ConsumerFailed,
  faultText,
  LeftOut,
  ofLivingStreams,
  type Poison,
  parkedStream,
  readableOf,
  readSkips,
} from './parking.ts';

export interface RetryHooks extends LeaderHooks {
  readonly onTaken?: (consumer: string, stream: string) => void;
}

/** Retries a parked stream, and parks it again if that fails. Throws on a transient fault; the retry request then remains. */
export const retryParked = async (
  member: Member,
  row: ParkedRow,
  hooks: RetryHooks,
  session: LeaderSession,
): Promise<void> => {
  const { consumer } = member;
  let again: ParkedStream | null;
  try {
    again = await takeUp(member, row, hooks, session);
  } catch (error) {
    await consumer.reset(session); // rejects if the connection is lost
    if (!(error instanceof ConsumerFailed)) throw error;
    again = { ...row, error: faultText(error.cause ?? error) };
    const failed = again;
    const places = await session.transaction(async (tx) => {
      await park(tx, [failed]);
      return confirmed(member, hooks, tx);
    });
    haveStored([member], places);
  }
  if (again === null) member.leftOut.unpark(row.stream);
  else member.leftOut.park(row.stream, again.revision);
  if (again === null) hooks.onTaken?.(consumer.name, row.stream);
  else hooks.onParked?.([again]);
  if (member.position !== null) hooks.onMoved([member.name], member.position);
};

/** Moves the member's checkpoint to its position. Returns its new place. Throws LostLeadership if another process moved it. */
const confirmed = async (member: Member, { role }: RetryHooks, tx: Sql): Promise<Places> => {
  const { position, eventId } = member;
  if (position === null) return new Map();
  return moveCheckpoints(tx, role, { moved: [standingOf(member)], idle: [] }, { position, eventId });
};

/** Returns null if all events were applied, otherwise the stream to park again. */
const takeUp = async (
  member: Member,
  { consumer: name, stream, revision }: ParkedRow,
  hooks: RetryHooks,
  session: LeaderSession,
): Promise<ParkedStream | null> => {
  const { store, codec } = hooks;
  const skipped = new LeftOut();
  await readSkips({ store, codec }, name, skipped);
  await readSkips({ store, codec }, name, member.leftOut);
  const recorded: RecordedEvent[] = [];
  const taken = takenOf(member, stream as StreamName);
  for await (const event of store.readStream(stream as StreamName, { from: revision })) {
    if (taken === null || event.position > taken) break;
    recorded.push(event);
  }
  const { events, poisoned: unreadable } = readableOf(await codec.decode(recorded), skipped);
  const { again, places } = await session.transaction(async (tx) => {
    const held = await tx.query(
      'SELECT FROM subscriptions.parked_streams WHERE consumer = $1 AND stream = $2 AND revision = $3 FOR UPDATE',
      [name, stream, revision],
    );
    if (held.rowCount !== 1) throw new LostLeadership(`${stream} is not parked for ${name} at this revision`);
    const poison: Poison | undefined =
      (await ofLivingStreams(await applyCarefully(member.consumer, events, tx), store))[0] ?? unreadable[0];
    const parked = poison === undefined ? null : await parkedStream(name, poison, store);
    if (parked === null) await unpark(tx, name, stream);
    else await park(tx, [parked]);
    return { again: parked, places: await confirmed(member, hooks, tx) };
  });
  haveStored([member], places);
  return again;
};
