// One reader of the log for many consumers: leadership with a standby, batches, rows and checkpoints in one transaction, and a
// consumer that fails steps aside without stopping the others (design §6).

import type { EventStore, Position, SubscriptionSignal } from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import type { LogConsumer } from '../../application/ports/logConsumer.ts';
import { decodeEvent } from '../../application/ports/loggedEvent.ts';
import {
  assertSameLog,
  CheckpointMismatch,
  createCheckpoint,
  LostLeadership,
  moveCheckpoints,
  readCheckpoints,
} from './checkpoints.ts';

export interface FollowersOptions {
  /** Names the leadership lock and the progress notices. */
  readonly role: 'projector' | 'reactor';
  readonly store: EventStore;
  readonly consumers: readonly LogConsumer[];
  readonly versionOf?: (consumer: LogConsumer) => number;
  readonly openSession: OpenLeaderSession;
  /** Before the first batch of each leadership, on the leader's session. */
  readonly prepare?: (session: LeaderSession) => Promise<void>;
  /** Called after each commit of this process, before the notice reaches others. */
  readonly onMoved: (position: Position) => void;
  readonly onFault: (consumer: string, error: Error) => void;
  /** The log is not the one that was followed: nothing may go on. */
  readonly onMismatch: (error: CheckpointMismatch) => void;
  readonly onRestart?: (error: Error) => void;
  readonly batchSize?: number;
}

/** Events a turn: decoding and rendering them must not hold the event loop above 10 ms. */
const BATCH_SIZE = 300;
/**
 * After a turn of at least this many events more are on their way: the next one waits a little, so that its transaction is shared by
 * more of them. A quiet log is followed at once; a read of one's own write waits at most this much longer under load.
 */
const BUSY_EVENTS = 24;
const GATHER_MS = 15;
/** How often a standby looks whether the leader is gone: a read of one's own write waits 1 s at most, and a takeover must fit into it. */
const STANDBY_MS = 100;
/** A failed consumer is tried again after this long: what failed may have been the weather. */
const FAULT_PATIENCE_MS = 15_000;

interface Member {
  readonly consumer: LogConsumer;
  readonly categories: ReadonlySet<string>;
  position: Position | null;
  fault: Error | null;
}

export class Followers {
  readonly #options: FollowersOptions;
  readonly #stopping = new AbortController();
  #members: Member[] = [];
  #running: Promise<void> = Promise.resolve();
  #leading = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  get isLeading(): boolean {
    return this.#leading;
  }

  /** Consumers that stepped aside, with why. */
  faults(): readonly { readonly name: string; readonly error: Error }[] {
    return this.#members.flatMap(({ consumer, fault }) => (fault ? [{ name: consumer.name, error: fault }] : []));
  }

  positions(): ReadonlyMap<string, Position | null> {
    return new Map(this.#members.map(({ consumer, position }) => [consumer.name, position]));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#leadOnce();
        failures = 0;
      } catch (error) {
        if (error instanceof CheckpointMismatch) return this.#options.onMismatch(error);
        this.#options.onRestart?.(error as Error);
        failures++;
        await pause(Math.min(100 * 2 ** failures, 5_000), signal);
      } finally {
        this.#leading = false;
      }
    }
  }

  /** One leadership, from taking the lock to losing it or stopping. */
  async #leadOnce(): Promise<void> {
    const { openSession, role } = this.#options;
    const { signal } = this.#stopping;
    const session = await openSession(role);
    const over = new AbortController();
    try {
      while (!signal.aborted && !(await session.tryLead(role))) await pause(STANDBY_MS, signal);
      if (signal.aborted) return;
      await this.#options.prepare?.(session);
      await this.#load(session);
      this.#leading = true;
      const patience = () => over.abort();
      await Promise.race([this.#follow(session, AbortSignal.any([signal, over.signal]), patience), session.lost]);
    } finally {
      over.abort();
      await session.close();
    }
  }

  async #load(session: LeaderSession): Promise<void> {
    const { consumers, store, versionOf = () => 1 } = this.#options;
    const known = await readCheckpoints(
      session,
      consumers.map(({ name }) => name),
    );
    const head = await store.head();
    this.#members = [];
    for (const consumer of consumers) {
      const checkpoint = known.get(consumer.name);
      if (checkpoint) assertSameLog(checkpoint, store.storeId, head);
      else
        await createCheckpoint(session, {
          name: consumer.name,
          version: versionOf(consumer),
          storeId: store.storeId,
          position: null,
        });
      await consumer.reset(session);
      const categories = new Set<string>(consumer.categories);
      this.#members.push({ consumer, categories, position: checkpoint?.position ?? null, fault: null });
    }
    const behind = this.#leastPosition();
    if (behind !== null) this.#options.onMoved(behind);
  }

  #leastPosition(): Position | null {
    return this.#members
      .map(({ position }) => position)
      .reduce((a, b) => (a === null || b === null ? null : a < b ? a : b));
  }

  async #follow(session: LeaderSession, signal: AbortSignal, restart: () => void): Promise<void> {
    const { store, batchSize = BATCH_SIZE } = this.#options;
    const after = this.#leastPosition();
    let patience: NodeJS.Timeout | undefined;
    try {
      // All categories: the checkpoint passes every event, so that "caught up" means the head of the log.
      for await (const batch of store.subscribe({ after, categories: null, batchSize, signal })) {
        await this.#take(session, batch);
        if (batch.kind === 'events' && batch.events.length >= BUSY_EVENTS && batch.events.length < batchSize)
          await pause(GATHER_MS, signal);
        if (this.faults().length > 0) patience ??= setTimeout(restart, FAULT_PATIENCE_MS);
      }
    } finally {
      clearTimeout(patience);
    }
  }

  async #take(session: LeaderSession, batch: SubscriptionSignal): Promise<void> {
    if (batch.kind === 'caughtUp') return;
    const recorded = batch.kind === 'events' ? batch.events : [];
    const categories = recorded.map(({ stream }) => stream.slice(0, stream.indexOf('-')));
    const behind = ({ position, fault }: Member) => fault === null && (position === null || position < batch.position);
    for (let members = this.#members.filter(behind); members.length > 0; members = this.#members.filter(behind)) {
      let current: Member | undefined;
      try {
        await session.transaction(async (tx) => {
          for (current of members) {
            const { categories: wanted, position, consumer } = current;
            const events = recorded
              .filter(
                (event, i) => wanted.has(categories[i] as string) && (position === null || event.position > position),
              )
              .map(decodeEvent);
            if (events.length > 0) await consumer.apply(events, tx);
          }
          current = undefined;
          await moveCheckpoints(
            tx,
            this.#options.role,
            members.map((m) => m.consumer.name),
            members.map((m) => m.position),
            batch.position,
          );
        });
      } catch (error) {
        if (current === undefined) throw error;
        await this.#stepAside(session, current, error as Error);
        continue;
      }
      for (const member of members) member.position = batch.position;
      for (const { consumer } of members) consumer.committed?.();
      this.#options.onMoved(batch.position);
    }
  }

  /** The whole batch was rolled back: the one that failed keeps its position, the others take the batch again. */
  async #stepAside(session: LeaderSession, failed: Member, error: Error): Promise<void> {
    // Rejects when the connection is gone, and then nobody failed. Nor did it when a rebuilt copy, further on, was swapped in under it.
    const { name } = failed.consumer;
    const known = (await readCheckpoints(session, [name])).get(name);
    if ((known?.position ?? null) !== failed.position)
      throw new LostLeadership(`the checkpoint of ${name} was moved by somebody else`);
    for (const { consumer } of this.#members) await consumer.reset(session);
    failed.fault = error;
    this.#options.onFault(failed.consumer.name, error);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
