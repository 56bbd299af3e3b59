// How consumers process batches of the log: those at the same position share a lane, each of the others has its own.

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { Decoded, EventCodec, EventLog } from '../../application/ports/eventCodec.ts';
import {
  type Position,
  type RecordedEvent,
  type SubscriptionSignal,
  UnknownPosition,
} from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession, Sql } from '../../application/ports/sql.ts';
import {
  LostLeadership,
  moveCheckpoints,
  movedElsewhere,
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
import { pause } from './pause.ts';
import { failureOf } from './together.ts';

/** A consumer while its subscription runs. */
export interface Member {
  readonly consumer: LogConsumer;
  readonly categories: ReadonlySet<string>;
  readonly swaps: number;
  readonly leftOut: LeftOut;
  position: Position | null;
  /** Id of the event at `position`, as in its checkpoint. */
  eventId: string | null;
  /** Where the table holds the newest version of its checkpoint. */
  place: string | null;
  /** Why the consumer failed as a whole, or null. A failed consumer has its own subscription until it recovers. */
  fault: Error | null;
  /** Number of consecutively parked streams without a processed event in between. */
  parkedInARow: number;
}

export const standingOf = ({ consumer: { name }, position, swaps, place }: Member): Standing => ({
  name,
  position,
  swaps,
  place,
});

/** Returns the events of a batch that each member processes. Events that several members process are decoded once. */
const eventsFor = async (
  codec: EventCodec,
  members: readonly Member[],
  recorded: readonly RecordedEvent[],
): Promise<readonly Readable[]> => {
  const categories = categoriesOf(recorded);
  const lists = members.map(({ categories: wanted, position }) =>
    recorded.filter(
      (event, i) => wanted.has(categories[i] as string) && (position === null || event.position > position),
    ),
  );
  const decoded = await decodeLists(codec, lists);
  return members.map(({ leftOut }, n) => readableOf(decoded[n] as readonly Decoded[], leftOut));
};

const applyTo = async ({ consumer }: Member, { events }: Readable, tx: Sql): Promise<void> => {
  if (events.length > 0) await consumer.apply(events, tx);
};

/** Callbacks with which the leader reports its work. */
export interface LeaderHooks extends EventLog {
  readonly role: string;
  /** Called after each commit of this process, before other processes are notified. */
  readonly onMoved: (names: readonly string[], position: Position) => void;
  /** Called after the commit, before `onMoved`. */
  readonly onParked?: (streams: readonly ParkedStream[]) => void;
}

interface Took {
  readonly member: Member;
  readonly poisoned: readonly Poison[];
  /** Whether any event was processed. */
  readonly hasTaken: boolean;
}

/** What a batch changed. */
interface Concluded {
  readonly parked: readonly ParkedStream[];
  /** The new places of the checkpoints, by name. */
  readonly places: ReadonlyMap<string, string>;
}

/** Parks failed streams and moves the checkpoints, in the transaction of the rows. */
const conclude = async (
  { role, store }: LeaderHooks,
  took: readonly Took[],
  to: Reached,
  tx: Sql,
): Promise<Concluded> => {
  const parked: ParkedStream[] = [];
  for (const { member, poisoned } of took)
    for (const poison of poisoned) parked.push(await parkedStream(member.consumer.name, poison, store));
  await park(tx, parked);
  const from = took.map(({ member }) => standingOf(member));
  return { parked, places: await moveCheckpoints(tx, role, from, to) };
};

/** Updates the members and reports the progress. Call it after the commit. */
const announceTaken = (
  { onMoved, onParked }: LeaderHooks,
  took: readonly Took[],
  { position: to, eventId }: Reached,
  { parked, places }: Concluded,
): void => {
  for (const { member, poisoned, hasTaken } of took) {
    member.parkedInARow = hasTaken ? 0 : member.parkedInARow + poisoned.length;
    for (const { recorded } of poisoned) member.leftOut.park(recorded.stream, recorded.revision);
    member.position = to;
    member.eventId = eventId;
    member.place = places.get(member.consumer.name) ?? null;
    member.consumer.committed?.();
  }
  if (parked.length > 0) onParked?.(parked);
  onMoved(
    took.map(({ member }) => member.consumer.name),
    to,
  );
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
 * load, this is the most that a read of one's own write waits longer.
 */
const BUSY_EVENTS = 24;
const GATHER_MS = 15;
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
    // Subscribes to all categories, because checkpoints cover every event and "caught up" means the head of the log.
    for await (const batch of store.subscribe({ after: this.position, categories: null, batchSize, signal })) {
      if (batch.kind === 'caughtUp') continue;
      await turns.take(() => this.#take(batch, signal));
      if (batch.kind === 'events' && batch.events.length >= BUSY_EVENTS && batch.events.length < batchSize)
        await pause(GATHER_MS, signal);
    }
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
        const takeAll = async (tx: Sql): Promise<Concluded> => {
          current = undefined;
          const failure = await failureOf(
            members.map((member, i) => () => applyTo(member, readable[i] as Readable, tx)),
          );
          if (failure !== null) {
            current = members[failure.index];
            throw failure.error;
          }
          return conclude(this.#options, took, to, tx);
        };
        // A batch without relevant events only moves checkpoints, which takes one statement.
        const isEmpty = readable.every(({ events, poisoned }) => events.length === 0 && poisoned.length === 0);
        const concluded = await (isEmpty ? takeAll(session) : session.transaction(takeAll));
        announceTaken(this.#options, took, to, concluded);
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
    // Rejects if the connection is lost. If a rebuilt copy was swapped in, no consumer failed.
    const moved = await movedElsewhere(session, members.map(standingOf));
    if (moved.length === 0 && current === undefined && !isTransientFault) throw error;
    for (const { consumer } of members) await consumer.reset(session);
    if (moved.length > 0) {
      for (const member of members.filter(({ consumer }) => moved.includes(consumer.name))) {
        this.#remove(member);
        this.#options.onLost(member);
      }
      return;
    }
    if (current !== undefined && !(isTransientFault && (tries < TRIES || members.length === 1))) {
      this.#remove(current);
      this.#options.onLeft(current, error);
      return;
    }
    this.#options.onDelay(error);
    await pause(Math.min(DELAY_MS * 2 ** (tries - 1), DELAY_MS_MAX), signal);
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

/** If more streams than this fail in a row without a processed event, the consumer is at fault, not the events. */
const PARKED_IN_A_ROW_MAX = 10;

/** Resolves when the member has rejoined the shared lane, or on the signal. Throws LostLeadership or UnknownPosition. */
export const followAlone = async (member: Member, options: LoneLaneOptions, signal: AbortSignal): Promise<void> => {
  const { store, batchSize, side, rejoin, retryDelayMsMax } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      for await (const batch of store.subscribe({ after: member.position, categories: null, batchSize, signal })) {
        if (batch.kind !== 'caughtUp') {
          const turns = await side.turns();
          await turns.take((session) => take(member, batch, options, session));
          failures = 0;
          member.fault = null;
        }
        if (rejoin(member)) return;
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
  if (isNews) onFault(member.consumer.name, error);
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
      const took = [{ member, poisoned, hasTaken }];
      return { took, concluded: await conclude(options, took, to, tx) };
    });
    announceTaken(options, done.took, to, done.concluded);
  } catch (error) {
    // If a rebuilt copy was swapped in meanwhile, the consumer did not fail.
    const isLost = error instanceof ConsumerFailed && (await movedElsewhere(session, [standingOf(member)])).length > 0;
    if (isLost) throw new LostLeadership(`another process moved the checkpoint of ${member.consumer.name}`);
    await member.consumer.reset(session);
    throw error;
  }
};
