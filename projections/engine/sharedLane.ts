// The followers that are level take each batch together, in one transaction. Who can't leaves, and the others take the batch again.
import type { Position, SubscriptionSignal } from '../../application/ports/eventStore.ts';
import { assertStillThere } from './checkpoints.ts';
import { isTransient } from './faults.ts';
import {
  announceTaken,
  categoriesOf,
  conclude,
  eventsFor,
  type LeaderHooks,
  type Member,
  standingOf,
  type Took,
  type Turns,
} from './member.ts';
import { pause } from './pause.ts';

export interface SharedLaneOptions extends LeaderHooks {
  readonly turns: Turns;
  readonly batchSize: number;
  /** It is not a member any more. */
  readonly onLeft: (member: Member, error: Error) => void;
  /** A transient fault: the batch is tried again. */
  readonly onDelay: (error: Error) => void;
}

/**
 * After a turn of at least this many events more are on their way: the next one waits a little, so that its transaction is shared by
 * more of them. A quiet log is followed at once; a read of one's own write waits at most this much longer under load.
 */
const BUSY_EVENTS = 24;
const GATHER_MS = 15;
/** Tries of a transient fault that only one of several meets, before the others go on without it. */
const TRIES = 3;
const DELAY_MS = 100;
const DELAY_MS_MAX = 5_000;

export class SharedLane {
  readonly #options: SharedLaneOptions;
  readonly members: Member[];
  /** All members have passed it. */
  position: Position | null;

  constructor(members: readonly Member[], position: Position | null, options: SharedLaneOptions) {
    this.members = [...members];
    this.position = position;
    this.#options = options;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const { store, batchSize, turns } = this.#options;
    // All categories: the checkpoint passes every event, so that "caught up" means the head of the log.
    for await (const batch of store.subscribe({ after: this.position, categories: null, batchSize, signal })) {
      if (batch.kind === 'caughtUp') continue;
      await turns.take(() => this.#take(batch, signal));
      if (batch.kind === 'events' && batch.events.length >= BUSY_EVENTS && batch.events.length < batchSize)
        await pause(GATHER_MS, signal);
    }
  }

  async #take(batch: Exclude<SubscriptionSignal, { kind: 'caughtUp' }>, signal: AbortSignal): Promise<void> {
    const recorded = batch.kind === 'events' ? batch.events : [];
    const categories = categoriesOf(recorded);
    const { session } = this.#options.turns;
    const behind = () => this.members.filter(({ position }) => position === null || position < batch.position);
    let tries = 0;
    // One that was level elsewhere may have joined meanwhile, further on or not.
    for (let members = behind(); members.length > 0 && !signal.aborted; members = behind()) {
      let current: Member | undefined;
      try {
        const readable = await Promise.all(
          members.map((member) => eventsFor(this.#options.codec, member, recorded, categories)),
        );
        const took: Took[] = [];
        const parked = await session.transaction(async (tx) => {
          for (const [i, { events, poisoned }] of readable.entries()) {
            current = members[i] as Member;
            if (events.length > 0) await current.consumer.apply(events, tx);
            took.push({ member: current, poisoned, hasTaken: events.length > 0 });
          }
          current = undefined;
          return conclude(this.#options, took, batch.position, tx);
        });
        announceTaken(this.#options, took, batch.position, parked);
      } catch (error) {
        await this.#recover(members, current, error as Error, ++tries, signal);
      }
    }
    if (!signal.aborted) this.position = batch.position;
  }

  /** The whole batch was rolled back. Throws when nobody is to blame, or the session is gone. */
  async #recover(
    members: readonly Member[],
    current: Member | undefined,
    error: Error,
    tries: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { session } = this.#options.turns;
    const isTransientFault = isTransient(error);
    if (current === undefined && !isTransientFault) throw error;
    // Rejects when the connection is gone, and when a rebuilt copy, further on, was swapped in: then nobody failed.
    for (const member of current ? [current] : members) await assertStillThere(session, standingOf(member));
    for (const { consumer } of members) await consumer.reset(session);
    if (current !== undefined && !(isTransientFault && (tries < TRIES || members.length === 1))) {
      this.members.splice(this.members.indexOf(current), 1);
      this.#options.onLeft(current, error);
      return;
    }
    this.#options.onDelay(error);
    await pause(Math.min(DELAY_MS * 2 ** (tries - 1), DELAY_MS_MAX), signal);
  }
}
