// Processes batches of the log for consumers: those at the same position share a lane, each of the others has its own.

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { Decoded, EventCodec, EventLog } from '../../application/ports/eventCodec.ts';
import {
  type Position,
  type RecordedEvent,
  type SubscriptionSignal,
  UnknownPosition,
} from '../../application/ports/eventStore.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { LeaderSession, OpenLeaderSession, Sql, SqlTransaction } from '../../application/ports/sql.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import {
  LostLeadership,
  moveCheckpoints,
  movedElsewhere,
  type Places,
  type Reached,
  reachedBy,
  type Standing,
} from './checkpoints.ts';
import { type ParkedStream, park } from './parkedStreams.ts';
import {
  applyCarefully,
  ConsumerFailed,
  categoriesOf,
  decodeLists,
  isTransient,
  type LeftOut,
  ofLivingStreams,
  type Poison,
  parkedStream,
  type Readable,
  readableOf,
} from './parking.ts';
import { type Front, isOfPart, later, type Part, reachedIn } from './partitions.ts';
import { pause } from './pause.ts';
import { failureOf } from './together.ts';

/** A consumer while its subscription runs. */
export interface Member {
  /** Name of its checkpoint: that of the consumer, or of one of its partitions. */
  readonly name: string;
  readonly consumer: LogConsumer;
  /** The accounts whose events it takes. */
  readonly part: Part;
  /** The progress of the whole consumer when this process began to lead this member. */
  readonly front: Front;
  readonly categories: ReadonlySet<string>;
  readonly version: number;
  readonly swaps: number;
  readonly leftOut: LeftOut;
  /** The position up to which it has processed its events. */
  position: Position | null;
  /** The position in its checkpoint. It may be earlier, if there was nothing to process up to `position`. */
  stored: Position | null;
  /** Id of the event at `position`. */
  eventId: string | null;
  /** The place of the newest version of its checkpoint in the table. */
  place: string | null;
  /** Why the consumer failed as a whole, or null. A failed consumer has its own subscription until it recovers. */
  fault: Error | null;
  /** Number of consecutively parked streams without a processed event in between. */
  parkedInARow: number;
}

export const standingOf = ({ name, version, stored: position, swaps, place }: Member): Standing => {
  return { name, version, position, swaps, place };
};

/** Records that the checkpoints of these members have moved to their positions. Call it after the commit. */
export const haveStored = (members: readonly Member[], places: Places): void => {
  for (const member of members) {
    member.stored = member.position;
    member.place = places.get(member.name) ?? null;
  }
};

/** Returns the position up to which this stream's events were processed, by the member or before the consumer was divided. */
export const takenOf = ({ position, front }: Pick<Member, 'position' | 'front'>, stream: StreamName): Position | null =>
  later(position, reachedIn(front, stream));

/** Whether the event is for this member. `category` is that of the event. */
const isFor = (member: Member, event: RecordedEvent, category: string): boolean => {
  const { categories, position, part, front } = member;
  if (!categories.has(category) || (position !== null && event.position <= position)) return false;
  if (front.length === 1) return true; // not divided
  return isOfPart(part, event.stream) && event.position > (takenOf(member, event.stream) ?? '');
};

/** Returns the events of a batch that each member processes. Events that several members process are decoded once. */
const eventsFor = async (
  codec: EventCodec,
  members: readonly Member[],
  recorded: readonly RecordedEvent[],
): Promise<readonly Readable[]> => {
  const categories = categoriesOf(recorded);
  const lists = members.map((member) => recorded.filter((event, i) => isFor(member, event, categories[i] as string)));
  const decoded = await decodeLists(codec, lists);
  return members.map(({ leftOut }, n) => readableOf(decoded[n] as readonly Decoded[], leftOut));
};

const applyTo = async ({ consumer }: Member, { events }: Readable, tx: SqlTransaction): Promise<void> => {
  if (events.length > 0) await consumer.apply(events, tx);
};

/** Callbacks with which the leader reports its work. */
export interface LeaderHooks extends EventLog {
  readonly role: string;
  /** Called after each commit of this process, before other processes are notified. `idle`: consumers that had nothing to do. */
  readonly onMoved: (names: readonly string[], position: Position, idle?: readonly string[]) => void;
  /** Called after the commit, before `onMoved`. */
  readonly onParked?: (streams: readonly ParkedStream[]) => void;
}

interface Took {
  readonly member: Member;
  readonly poisoned: readonly Poison[];
  /** Whether any event was processed. */
  readonly hasTaken: boolean;
}

/** Whether the member's checkpoint may stay behind. */
const mayStay = ({ member, poisoned, hasTaken }: Took): boolean =>
  !hasTaken && poisoned.length === 0 && member.consumer.isDecidedOn !== true;

const namesOf = (took: readonly Took[]): readonly string[] => took.map(({ member }) => member.name);

/** The members' results for a batch. */
interface Outcome {
  readonly moved: readonly Took[];
  /** Members that had nothing to do. Their checkpoints may follow later. */
  readonly idle: readonly Took[];
}

/** The changes of a batch. */
interface Concluded {
  readonly parked: readonly ParkedStream[];
  readonly places: Places;
}

/** Parks failed streams and moves the checkpoints, in the transaction of the rows. */
const conclude = async (
  { role, store }: LeaderHooks,
  { moved, idle }: Outcome,
  to: Reached,
  tx: Sql,
): Promise<Concluded> => {
  const parked: ParkedStream[] = [];
  for (const { member, poisoned } of moved)
    for (const poison of poisoned) parked.push(await parkedStream(member.consumer.name, poison, store));
  await park(tx, parked);
  const standings = (took: readonly Took[]): readonly Standing[] => took.map(({ member }) => standingOf(member));
  return { parked, places: await moveCheckpoints(tx, role, { moved: standings(moved), idle: standings(idle) }, to) };
};

/** Updates the members and reports the progress. Call it after the commit. */
const announceTaken = (
  { onMoved, onParked }: LeaderHooks,
  { moved, idle }: Outcome,
  to: Reached,
  { parked, places }: Concluded,
): void => {
  for (const { member, poisoned, hasTaken } of [...moved, ...idle]) {
    member.parkedInARow = hasTaken ? 0 : member.parkedInARow + poisoned.length;
    for (const { recorded } of poisoned) member.leftOut.park(recorded.stream, recorded.revision);
    member.position = to.position;
    member.eventId = to.eventId;
  }
  haveStored(
    moved.map(({ member }) => member),
    places,
  );
  if (parked.length > 0) onParked?.(parked);
  onMoved(namesOf(moved), to.position, namesOf(idle));
};

/** A session whose users take turns, because transactions can't overlap on one connection. */
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

// --- The shared lane: one transaction per batch for all consumers at the same position. A consumer that fails leaves the lane, and the
// others repeat the batch ---

interface SharedLaneOptions extends LeaderHooks {
  readonly turns: Turns;
  readonly batchSize: number;
  /** Called when an error removes the member from the lane. */
  readonly onLeft: (member: Member, error: Error) => void;
  /** Called when the member left the lane because its checkpoint was moved elsewhere. It did not fail. */
  readonly onLost: (member: Member) => void;
  /** Called on a transient fault; the batch is then retried. */
  readonly onDelay: (error: Error) => void;
}

/**
 * After at least this many events, more are expected: the next turn waits briefly, so that more events share a transaction. A quiet log is
 * followed immediately: spacing all turns of a burst made a webhook 4 ms later (p50 15 instead of 11 ms, `bench -- --only latency`). Under
 * load, reads of one's own writes wait at most this much longer.
 */
const BUSY_EVENTS = 24;
const GATHER_MS = 15;
/**
 * How long a checkpoint may stay behind while its consumer has nothing to do. Most turns concern few consumers, and moving all of them in
 * each turn took 584 instead of 411 µs of PostgreSQL. A successor reads this much again.
 */
const STORE_MS = 200;
/** Retries of a transient fault that affects only one of several consumers, before the others continue without it. */
const TRIES = 3;
const DELAY_MS = 100;
const DELAY_MS_MAX = 5_000;

export class SharedLane {
  readonly #options: SharedLaneOptions;
  readonly members: Member[];
  /** The position that all members have reached. */
  position: Position | null;

  constructor(members: readonly Member[], position: Position | null, options: SharedLaneOptions) {
    this.members = [...members];
    this.position = position;
    this.#options = options;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { store, batchSize, turns } = this.#options;
    const storing = repeating(STORE_MS, () => this.store(), { onError: this.#options.onDelay });
    try {
      // Subscribes to all categories, because checkpoints cover every event and "caught up" means the head of the log.
      for await (const batch of store.subscribe({ after: this.position, categories: null, batchSize, signal })) {
        if (batch.kind === 'caughtUp') continue;
        await turns.take(() => this.#take(batch, signal));
        if (batch.kind === 'events' && batch.events.length >= BUSY_EVENTS && batch.events.length < batchSize)
          await pause(GATHER_MS, signal);
      }
    } finally {
      await storing.stop();
    }
  }

  /** Moves the checkpoints of members that had nothing to do lately. Rejects on a fault; the next call tries again. */
  async store(): Promise<void> {
    const { role, turns } = this.#options;
    await turns.take(async (session) => {
      const members = this.members.filter(({ position, stored }) => position !== stored);
      const [first] = members; // the others have the same position, that of the last turn
      if (first === undefined || first.position === null) return;
      const to = { position: first.position, eventId: first.eventId };
      try {
        haveStored(members, await moveCheckpoints(session, role, { moved: members.map(standingOf), idle: [] }, to));
      } catch (error) {
        if (!(await this.#removeLost(members))) throw error;
      }
    });
  }

  async #take(batch: Exclude<SubscriptionSignal, { kind: 'caughtUp' }>, signal: AbortSignal): Promise<void> {
    const recorded = batch.kind === 'events' ? batch.events : [];
    const to = reachedBy(batch);
    const { session } = this.#options.turns;
    const behind = () => this.members.filter(({ position }) => position === null || position < batch.position);
    let tries = 0;
    // A member may have rejoined in the meantime, at this position or a later one.
    for (let members = behind(); members.length > 0 && !signal.aborted; members = behind()) {
      let current: Member | undefined;
      try {
        const readable = await eventsFor(this.#options.codec, members, recorded);
        const took = readable.map(({ events, poisoned }, i): Took => {
          return { member: members[i] as Member, poisoned, hasTaken: events.length > 0 };
        });
        const outcome = { moved: took.filter((one) => !mayStay(one)), idle: took.filter(mayStay) };
        const takeAll = async (tx: SqlTransaction): Promise<Concluded> => {
          current = undefined;
          const failure = await failureOf(
            members.map((member, i) => () => applyTo(member, readable[i] as Readable, tx)),
          );
          if (failure !== null) {
            current = members[failure.index];
            throw failure.error;
          }
          return conclude(this.#options, outcome, to, tx);
        };
        // A batch without relevant events only notifies, which takes one statement.
        const concluded = await (outcome.moved.length === 0
          ? conclude(this.#options, outcome, to, session)
          : session.transaction(takeAll));
        announceTaken(this.#options, outcome, to, concluded);
      } catch (error) {
        await this.#recover(members, current, error as Error, ++tries, signal);
      }
    }
    if (!signal.aborted) this.position = batch.position;
  }

  /** Handles a batch that was rolled back. Throws if no consumer is at fault or lost, or if the session is lost. */
  async #recover(
    members: readonly Member[],
    current: Member | undefined,
    error: Error,
    tries: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { session } = this.#options.turns;
    const isTransientFault = isTransient(error);
    const wereLost = await this.#removeLost(members);
    if (!wereLost && current === undefined && !isTransientFault) throw error;
    for (const { consumer } of members) await consumer.reset(session);
    if (wereLost) return;
    if (current !== undefined && !(isTransientFault && (tries < TRIES || members.length === 1))) {
      this.#remove(current);
      this.#options.onLeft(current, error);
      return;
    }
    this.#options.onDelay(error);
    await pause(Math.min(DELAY_MS * 2 ** (tries - 1), DELAY_MS_MAX), signal);
  }

  /**
   * Removes the members whose checkpoint was moved elsewhere. If a rebuilt copy was swapped in, no consumer failed. Returns whether there
   * were any. Rejects if the connection is lost.
   */
  async #removeLost(members: readonly Member[]): Promise<boolean> {
    const moved = await movedElsewhere(this.#options.turns.session, members.map(standingOf));
    for (const member of members.filter(({ name }) => moved.includes(name))) {
      this.#remove(member);
      this.#options.onLost(member);
    }
    return moved.length > 0;
  }

  #remove(member: Member): void {
    this.members.splice(this.members.indexOf(member), 1);
  }
}

// --- The lone lane: a separate subscription for a consumer that failed or is behind. It parks failing streams, retries the consumer while
// it fails as a whole, and returns it to the shared lane when it has caught up ---

interface LoneLaneOptions extends LeaderHooks {
  readonly side: SideSession;
  readonly batchSize: number;
  /** Moves a member that has caught up to the shared lane. Returns whether it did. */
  readonly rejoin: (member: Member) => boolean;
  readonly onFault: (consumer: string, error: Error) => void;
  readonly onDelay: (error: Error) => void;
  /** Longest pause between two retries, in milliseconds. */
  readonly retryDelayMsMax: number;
}

/** The session that all lone lanes share, so that they never delay the shared lane. */
export class SideSession {
  readonly #open: () => Promise<LeaderSession>;
  #turns: Promise<Turns> | null = null;

  constructor(openSession: OpenLeaderSession, role: string) {
    this.#open = () => openSession(`${role} aside`);
  }

  turns(): Promise<Turns> {
    this.#turns ??= this.#open().then(
      (session) => {
        session.lost.catch(() => this.discard());
        return new Turns(session);
      },
      (error: unknown) => {
        this.#turns = null;
        throw error;
      },
    );
    return this.#turns;
  }

  /** Resolves after the turns that were requested before. */
  async idle(): Promise<void> {
    const turns = await this.#turns?.catch(() => null);
    await turns?.take(async () => undefined);
  }

  /** Closes the session; the next turn opens a new one. */
  async discard(): Promise<void> {
    const turns = this.#turns;
    this.#turns = null;
    const opened = await turns?.catch(() => null);
    await opened?.session.close();
  }
}

/** After this many full batches in a row, a consumer is far behind, and rests after each batch for as long as the batch took. */
const LONG_WAY_BATCHES = 20;

/** If more streams than this fail in a row without a processed event, the consumer is at fault, not the events. */
const PARKED_IN_A_ROW_MAX = 10;

/** Resolves when the member has rejoined the shared lane, or on the signal. Throws LostLeadership or UnknownPosition. */
export const followAlone = async (member: Member, options: LoneLaneOptions, signal: AbortSignal): Promise<void> => {
  const { store, batchSize, side, rejoin, retryDelayMsMax } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      let full = 0;
      for await (const batch of store.subscribe({ after: member.position, categories: null, batchSize, signal })) {
        const begunAt = performance.now();
        if (batch.kind !== 'caughtUp') {
          const turns = await side.turns();
          await turns.take((session) => take(member, batch, options, session));
          failures = 0;
          member.fault = null;
        }
        if (rejoin(member)) return;
        full = batch.kind === 'events' && batch.events.length === batchSize ? full + 1 : 0;
        if (full > LONG_WAY_BATCHES) await pause(performance.now() - begunAt, signal);
      }
    } catch (error) {
      if (error instanceof LostLeadership || error instanceof UnknownPosition) throw error;
      if (signal.aborted) return; // the session was closed under a running turn
      await reportFault(member, error as Error, options);
      failures++;
      await pause(Math.min(DELAY_MS * 2 ** failures, retryDelayMsMax), signal);
    }
  }
};

/** Reports a fault once, until its message changes. */
const reportFault = async (
  member: Member,
  error: Error,
  { side, onFault, onDelay }: LoneLaneOptions,
): Promise<void> => {
  if (!(error instanceof ConsumerFailed)) {
    onDelay(error);
    if (!isTransient(error)) await side.discard(); // the connection is probably broken
    return;
  }
  const isNews = member.fault?.message !== error.message;
  member.fault = error;
  if (isNews) onFault(member.name, error);
};

const take = async (
  member: Member,
  batch: Exclude<SubscriptionSignal, { kind: 'caughtUp' }>,
  options: LoneLaneOptions,
  session: LeaderSession,
): Promise<void> => {
  const to = reachedBy(batch);
  if (member.position !== null && member.position >= to.position) return;
  const recorded = batch.kind === 'events' ? batch.events : [];
  const [readable] = await eventsFor(options.codec, [member], recorded);
  const { events, poisoned: unreadable } = readable as Readable;
  try {
    const done = await session.transaction(async (tx) => {
      const failing = await ofLivingStreams(await applyCarefully(member.consumer, events, tx), options.store);
      const poisonedStreams = new Set(failing.map(({ recorded: { stream } }) => stream));
      const poisoned = [...failing, ...unreadable.filter(({ recorded: { stream } }) => !poisonedStreams.has(stream))];
      const hasTaken = events.some(({ stream }) => !poisonedStreams.has(stream));
      if (failing.length > 0 && !hasTaken && member.parkedInARow + failing.length > PARKED_IN_A_ROW_MAX)
        throw new ConsumerFailed(`${PARKED_IN_A_ROW_MAX} streams failed in a row`, {
          cause: failing[0]?.error,
        });
      const outcome = { moved: [{ member, poisoned, hasTaken }], idle: [] };
      return { outcome, concluded: await conclude(options, outcome, to, tx) };
    });
    announceTaken(options, done.outcome, to, done.concluded);
  } catch (error) {
    // If a rebuilt copy was swapped in meanwhile, the consumer did not fail.
    const isLost = error instanceof ConsumerFailed && (await movedElsewhere(session, [standingOf(member)])).length > 0;
    if (isLost) throw new LostLeadership(`another process moved the checkpoint of ${member.name}`);
    await member.consumer.reset(session);
    throw error;
  }
};
