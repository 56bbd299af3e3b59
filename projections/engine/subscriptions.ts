// One reader of the log for many consumers, with leadership and a standby. Rows and checkpoints of a batch share a transaction. A failing
// event parks its stream; a consumer that fails as a whole gets its own lane; the others continue (architecture §6, §7).

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { EventLog } from '../../application/ports/eventCodec.ts';
import { type Position, UnknownPosition } from '../../application/ports/eventStore.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/sql.ts';
import {
  assertSameLog,
  CheckpointMismatch,
  createFirstCheckpoint,
  readCheckpoints,
  readPlaces,
} from './checkpoints.ts';
import { followAlone, type Member, SharedLane, SideSession, Turns } from './lanes.ts';
import { type ParkedStream, readAsked } from './parkedStreams.ts';
import { readLeftOut } from './parking.ts';
import { pause } from './pause.ts';
import type { OtherVersion } from './rebuild.ts';
import { type RetryHooks, retryParked } from './retry.ts';

export interface SubscriptionsOptions extends EventLog {
  /** Names the leadership lock and the progress notices. */
  readonly role: 'projector' | 'reactor';
  readonly consumers: readonly LogConsumer[];
  readonly versionOf?: (consumer: LogConsumer) => number;
  readonly openSession: OpenLeaderSession;
  /** Called on the leader's session before the first batch of each leadership. Returns the consumers that the leader leaves out. */
  readonly prepare?: (session: LeaderSession) => Promise<readonly OtherVersion[]>;
  /** Called with the consumers that this leadership leaves out. */
  readonly onOtherVersions?: (others: readonly OtherVersion[]) => void;
  /** Called after each commit of this process, before other processes are notified: these consumers have reached `position`. */
  readonly onMoved: (consumers: readonly string[], position: Position) => void;
  /** Called after the commit, before `onMoved`. */
  readonly onParked?: (streams: readonly ParkedStream[]) => void;
  /** Called when a retry of a parked stream has succeeded. */
  readonly onTaken?: (consumer: string, stream: string) => void;
  /** Called when a consumer fails as a whole. Its position stays, and it is retried automatically. */
  readonly onFault: (consumer: string, error: Error) => void;
  /** Called when the log doesn't match the checkpoints. No consumer continues. */
  readonly onMismatch: (error: CheckpointMismatch) => void;
  /** Called when a fault ends the leadership, or a batch meets a transient fault. Both are retried automatically. */
  readonly onRestart?: (error: Error) => void;
  readonly batchSize?: number;
  /** Longest pause between retries of a consumer that failed as a whole, in milliseconds. */
  readonly retryDelayMsMax?: number;
  /** How long a newer version may take to lead, in milliseconds. Default 5,000. */
  readonly yieldMs?: number;
}

/** Events per turn. Decoding and rendering them must not block the event loop for more than 10 ms. */
const BATCH_SIZE = 300;
/** Interval at which a standby tries to lead. A takeover must fit into the 1 s that a read of one's own write waits at most. */
const STANDBY_MS = 100;
/** Longest wait for running work when a leadership ends. */
const ENDING_MS_MAX = 2_000;
const RETRY_DELAY_MS_MAX = 5_000;
/** Interval at which requested retries are polled, because a notice may be missed. */
const LOOK_MS = 5_000;

/** Interval at which the leader looks whether a consumer that it left out has its version by now. */
const LEFT_OUT_LOOK_MS = 500;
/**
 * If a newer version of the program built a read model, this process lets a process of that version lead: it does not try to lead for this
 * long. If no process leads meanwhile, the newer version was rolled back.
 */
const YIELD_MS = 5_000;

/** One leadership, from taking the lock to losing it or stopping. */
interface Leadership {
  readonly shared: SharedLane;
  readonly turns: Turns;
  readonly side: SideSession;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #stopping = new AbortController();
  readonly #hooks: RetryHooks;
  #members: Member[] = [];
  #running: Promise<void> = Promise.resolve();
  #leadership: Leadership | null = null;
  #attending: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | null = null;
  /** Leaderships ended by a fault since the last processed batch. */
  #failures = 0;
  /** Whether the last position was missing in the log. Checkpoints may have been restored, too, so they are read once more. */
  #isLogDoubted = false;
  /** Whether this process has offered the leadership to a newer version, and no process has led since. */
  #hasYielded = false;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    const { role, store, codec, onMoved, onParked, onTaken } = options;
    const onWorked: SubscriptionsOptions['onMoved'] = (consumers, position) => {
      this.#failures = 0;
      this.#isLogDoubted = false;
      onMoved(consumers, position);
    };
    this.#hooks = {
      role,
      store,
      codec,
      onMoved: onWorked,
      ...(onParked && { onParked }),
      ...(onTaken && { onTaken }),
    };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  get isLeading(): boolean {
    return this.#leadership !== null;
  }

  /** Returns the consumers that failed as a whole, with their errors. */
  faults(): readonly { readonly name: string; readonly error: Error }[] {
    return this.#members.flatMap(({ consumer, fault }) => (fault ? [{ name: consumer.name, error: fault }] : []));
  }

  positions(): ReadonlyMap<string, Position | null> {
    return new Map(this.#members.map(({ consumer, position }) => [consumer.name, position]));
  }

  /** Performs requested retries of parked streams. Does nothing while another process leads. */
  attend(): Promise<void> {
    if (this.#waiting !== null) return this.#waiting; // it has not polled yet
    this.#waiting = this.#attending
      .then(() => {
        this.#waiting = null;
        return this.#attend();
      })
      .catch(async (error: Error) => {
        // If the leadership ends meanwhile, it reports that itself, and the next one polls again.
        const leadership = this.#leadership;
        if (leadership === null || this.#stopping.signal.aborted) return;
        const goesOn = await leadership.turns
          .take((session) => session.query('SELECT'))
          .then(
            () => true,
            () => false,
          );
        if (goesOn) this.#options.onRestart?.(error);
      });
    this.#attending = this.#waiting;
    return this.#attending;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#leadOnce();
        if (this.#hasYielded) await pause(this.#options.yieldMs ?? YIELD_MS, signal);
      } catch (error) {
        if (error instanceof CheckpointMismatch) return this.#options.onMismatch(error);
        if (error instanceof UnknownPosition && this.#isLogDoubted)
          return this.#options.onMismatch(new CheckpointMismatch(error.message));
        this.#isLogDoubted ||= error instanceof UnknownPosition;
        this.#options.onRestart?.(error as Error);
        await pause(Math.min(100 * 2 ** ++this.#failures, 5_000), signal);
      }
    }
  }

  async #leadOnce(): Promise<void> {
    const { openSession, role, prepare } = this.#options;
    const { signal } = this.#stopping;
    const session = await openSession(role);
    const side = new SideSession(openSession, role);
    const over = new AbortController();
    let alone: Promise<unknown> = Promise.resolve();
    try {
      while (!signal.aborted && !(await session.tryLead(role))) {
        this.#hasYielded = false; // another process leads
        await pause(STANDBY_MS, signal);
      }
      if (signal.aborted) return;
      const others = (await prepare?.(session)) ?? [];
      const isNewer = others.some(({ condition }) => condition === 'newer');
      this.#hasYielded = isNewer && !this.#hasYielded;
      if (this.#hasYielded) return;
      if (others.length > 0) this.#options.onOtherVersions?.(others);
      const leftOut = new Set(others.map(({ name }) => name));
      const ready = this.#options.consumers.filter(({ name }) => !leftOut.has(name));
      this.#members = await this.#load(session, ready);
      const until = AbortSignal.any([signal, over.signal]);
      const led = this.#lead(new Turns(session), side, leftOut, until);
      alone = led.alone;
      await Promise.race([led.shared, led.broken, session.lost]);
    } finally {
      this.#leadership = null;
      over.abort();
      await Promise.all([side.discard(), session.close()]);
      // Running work ends with its session. A silent session must not keep this process from leading again.
      const ended = new AbortController();
      await Promise.race([Promise.all([alone, this.#attending]), pause(ENDING_MS_MAX, ended.signal)]);
      ended.abort();
    }
  }

  async #load(session: LeaderSession, consumers: readonly LogConsumer[]): Promise<Member[]> {
    const { store, codec, versionOf = () => 1 } = this.#options;
    const names = consumers.map(({ name }) => name);
    const known = await readCheckpoints(session, names);
    await assertSameLog(
      store,
      names.flatMap((name) => known.get(name) ?? []),
    );
    const members: Member[] = [];
    for (const consumer of consumers) {
      const { name } = consumer;
      const checkpoint = known.get(name);
      if (!checkpoint)
        await createFirstCheckpoint(session, { name, version: versionOf(consumer), storeId: store.storeId });
      await consumer.reset(session);
      members.push({
        consumer,
        categories: new Set<string>(consumer.categories),
        position: checkpoint?.position ?? null,
        eventId: checkpoint?.eventId ?? null,
        place: null,
        swaps: checkpoint?.swaps ?? 0,
        leftOut: await readLeftOut(session, { store, codec }, name),
        fault: null,
        parkedInARow: 0,
      });
    }
    const places = await readPlaces(session, names);
    for (const member of members) member.place = places.get(member.consumer.name) ?? null;
    for (const { consumer, position } of members)
      if (position !== null) this.#options.onMoved([consumer.name], position);
    return members;
  }

  /**
   * Starts the lanes. Consumers at the most common position, or beyond it, share one; those behind it catch up in their own lanes.
   */
  #lead(turns: Turns, side: SideSession, leftOut: Set<string>, until: AbortSignal) {
    const {
      batchSize = BATCH_SIZE,
      retryDelayMsMax = RETRY_DELAY_MS_MAX,
      onFault,
      onRestart = () => undefined,
    } = this.#options;
    const lone = new Set<Promise<void>>();
    let fail: (error: Error) => void = () => undefined;
    const broken = new Promise<never>((_, reject) => {
      fail = reject;
    });
    broken.catch(() => undefined); // the race may be over
    const options = { ...this.#hooks, batchSize, onDelay: onRestart };
    const rejoin = (member: Member): boolean => {
      if (shared.position !== null && (member.position === null || member.position < shared.position)) return false;
      shared.members.push(member);
      return true;
    };
    const goAlone = (member: Member) => {
      const running = followAlone(member, { ...options, side, rejoin, onFault, retryDelayMsMax }, until)
        .catch(fail)
        .finally(() => lone.delete(running));
      lone.add(running);
    };
    const start = whereMostStand(this.#members);
    const together = this.#members.filter(({ position }) => (position ?? '') >= (start ?? ''));
    const shared = new SharedLane(together, start, { ...options, turns, onLeft: goAlone });
    this.#leadership = { shared, turns, side };
    for (const member of this.#members) if (!together.includes(member)) goAlone(member);
    void this.attend();
    const looking = [repeating(LOOK_MS, () => this.attend())];
    if (leftOut.size > 0)
      looking.push(repeating(LEFT_OUT_LOOK_MS, () => this.#admit(leftOut, turns, goAlone), { onError: fail }));
    const ended = shared.follow(until).finally(() => {
      for (const look of looking) void look.stop();
    });
    return {
      shared: ended,
      broken,
      alone: ended
        .catch(() => undefined)
        .then(async () => {
          while (lone.size > 0) await Promise.all(lone);
        }),
    };
  }

  /** Admits consumers that were left out, and whose copy of this version has been swapped in by now. */
  async #admit(leftOut: Set<string>, turns: Turns, goAlone: (member: Member) => void): Promise<void> {
    if (leftOut.size === 0) return;
    const { consumers, versionOf = () => 1 } = this.#options;
    const members = await turns.take(async (session) => {
      const known = await readCheckpoints(session, [...leftOut]);
      const ready = consumers.filter((one) => leftOut.has(one.name) && known.get(one.name)?.version === versionOf(one));
      return ready.length === 0 ? [] : this.#load(session, ready);
    });
    for (const member of members) {
      leftOut.delete(member.consumer.name);
      this.#members.push(member);
      goAlone(member);
    }
  }

  async #attend(): Promise<void> {
    const leadership = this.#leadership;
    if (leadership === null) return;
    const names = this.#members.map(({ consumer }) => consumer.name);
    const asked = await leadership.turns.take((session) => readAsked(session, names));
    for (const row of asked) {
      const member = this.#members.find(({ consumer }) => consumer.name === row.consumer);
      if (member === undefined || this.#leadership !== leadership) return;
      const isShared = () => leadership.shared.members.includes(member);
      const wasShared = isShared();
      const turns = wasShared ? leadership.turns : await leadership.side.turns();
      await turns.take(async (session) => {
        // A consumer that changed lanes while this waited is handled next time.
        if (this.#leadership === leadership && isShared() === wasShared)
          await retryParked(member, row, this.#hooks, session);
      });
    }
  }
}

/** Returns the position of most members; on a tie, the furthest one. */
const whereMostStand = (members: readonly Member[]): Position | null => {
  const byPosition = [...Map.groupBy(members, ({ position }) => position)];
  const [first] = byPosition.toSorted(
    ([a, one], [b, other]) => other.length - one.length || ((a ?? '') < (b ?? '') ? 1 : -1),
  );
  return first?.[0] ?? null;
};
