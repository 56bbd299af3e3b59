// A follower at work: where it stands, what it leaves out, and how it is told of.
import type { EventCodec, EventLog } from '../../application/ports/eventCodec.ts';
import type { Position, RecordedEvent } from '../../application/ports/eventStore.ts';
import type { LeaderSession } from '../../application/ports/leaderSession.ts';
import type { LogConsumer } from '../../application/ports/logConsumer.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { moveCheckpoints, type Standing } from './checkpoints.ts';
import { type ParkedStream, park } from './parkedStreams.ts';
import { decodeAll, type LeftOut, type Poison, parkedStream, type Readable } from './parking.ts';

export interface Member {
  readonly consumer: LogConsumer;
  readonly categories: ReadonlySet<string>;
  readonly swaps: number;
  readonly leftOut: LeftOut;
  position: Position | null;
  /** It failed as a whole, and follows on a subscription of its own until it is well. */
  fault: Error | null;
  /** Streams parked one after the other, without an event taken in between. */
  parkedInARow: number;
}

export const standingOf = ({ consumer: { name }, position, swaps }: Member): Standing => ({ name, position, swaps });

/** What a batch holds for it. `categories`: of each recorded event. */
export const eventsFor = (
  codec: EventCodec,
  { categories: wanted, position, leftOut }: Member,
  recorded: readonly RecordedEvent[],
  categories: readonly string[],
): Promise<Readable> =>
  decodeAll(
    codec,
    recorded.filter(
      (event, i) => wanted.has(categories[i] as string) && (position === null || event.position > position),
    ),
    leftOut,
  );

export const categoriesOf = (recorded: readonly RecordedEvent[]): readonly string[] =>
  recorded.map(({ stream }) => stream.slice(0, stream.indexOf('-')));

/** What the leader tells of its work. */
export interface LeaderHooks extends EventLog {
  readonly role: string;
  /** After each commit of this process, before the notice reaches others. */
  readonly onMoved: (names: readonly string[], position: Position) => void;
  /** After the commit, and before the progress is told. */
  readonly onParked?: (streams: readonly ParkedStream[]) => void;
}

export interface Took {
  readonly member: Member;
  readonly poisoned: readonly Poison[];
  /** Whether it took any event. */
  readonly hasTaken: boolean;
}

/** Parks what could not be taken and moves the checkpoints, in the transaction of the rows. */
export const conclude = async (
  { role, store }: LeaderHooks,
  took: readonly Took[],
  to: Position,
  tx: Sql,
): Promise<readonly ParkedStream[]> => {
  const parked: ParkedStream[] = [];
  for (const { member, poisoned } of took)
    for (const poison of poisoned) parked.push(await parkedStream(member.consumer.name, poison, store));
  await park(tx, parked);
  const from = took.map(({ member }) => standingOf(member));
  await moveCheckpoints(tx, role, from, to);
  return parked;
};

/** The transaction is committed. */
export const announceTaken = (
  { onMoved, onParked }: LeaderHooks,
  took: readonly Took[],
  to: Position,
  parked: readonly ParkedStream[],
): void => {
  for (const { member, poisoned, hasTaken } of took) {
    member.parkedInARow = hasTaken ? 0 : member.parkedInARow + poisoned.length;
    for (const { recorded } of poisoned) member.leftOut.park(recorded.stream, recorded.revision);
    member.position = to;
    member.consumer.committed?.();
  }
  if (parked.length > 0) onParked?.(parked);
  onMoved(
    took.map(({ member }) => member.consumer.name),
    to,
  );
};

/** A session that several take turns on: transactions on one connection can't overlap. */
export class Turns {
  readonly session: LeaderSession;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: LeaderSession) {
    this.session = session;
  }

  take<T>(work: (session: LeaderSession) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => work(this.session));
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
