// How far each consumer of a group is behind the log, as this process knows it. Its own appends and consumers are known at once; notices
// report those of other processes (architecture §6).

import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { CaughtUp, Progress, ReadModelName } from '../../application/ports/readModels/progress.ts';
import { repeating } from '../../application/ports/repeating.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

interface Waiter {
  readonly head: Position;
  readonly names: readonly string[];
  readonly resolve: (passed: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

interface Standing {
  position: Position | null;
  /** When the consumer last moved while it was behind; null if it has caught up. */
  behindSinceMs: number | null;
}

export class LogProgress<Name extends string = string> implements Progress<Name> {
  readonly names: readonly Name[];
  readonly #now: () => number;
  readonly #standing: ReadonlyMap<string, Standing>;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<() => void>();
  #head: Position | null = null;

  /** `names`: the consumers of the group. */
  constructor(now: () => number, names: readonly Name[]) {
    this.#now = now;
    this.names = names;
    this.#standing = new Map(names.map((name) => [name, { position: null, behindSinceMs: null }]));
  }

  /** Listens to the heads that the store announces, and to the notices of consumers of `role` in other processes. */
  async follow(store: EventStore, notices: NotificationListener, role: string): Promise<void> {
    store.onHead((head) => this.sawHead(head));
    store.onRestored((head) => this.reset(head));
    await notices.on('quita_progress', (payload) => {
      const [of, position, names] = payload.split(' ');
      if (of === role && position && names) this.moved(names.split(','), position as Position);
    });
    const head = await store.head();
    if (head !== null) this.sawHead(head);
  }

  sawHead(head: Position): void {
    if (this.#head !== null && head <= this.#head) return;
    this.#head = head;
    for (const standing of this.#standing.values())
      if (standing.behindSinceMs === null && this.#isBehind(standing)) standing.behindSinceMs = this.#now();
  }

  /** Forgets the consumers' positions, because the log was restored to an older state. */
  reset(head: Position | null): void {
    this.#head = head;
    for (const standing of this.#standing.values()) {
      standing.position = null;
      standing.behindSinceMs = head === null ? null : this.#now();
    }
  }

  /** Records that consumers reached a position. Names of other groups are ignored. */
  moved(names: readonly string[], position: Position): void {
    let hasMoved = false;
    for (const name of names) {
      const standing = this.#standing.get(name);
      if (standing === undefined || (standing.position !== null && position <= standing.position)) continue;
      standing.position = position;
      // A consumer that moves is not stuck, although under load it never quite reaches the head.
      standing.behindSinceMs = this.#isBehind(standing) ? this.#now() : null;
      hasMoved = true;
    }
    if (!hasMoved) return;
    for (const waiter of this.#waiters) if (this.#havePassed(waiter.names, waiter.head)) this.#settle(waiter, true);
    for (const listener of this.#listeners) listener();
  }

  /** Returns for how many milliseconds a consumer has not moved while behind; 0 if it has caught up. Without a name, the maximum. */
  stuckMs(name?: Name): number {
    if (name === undefined) return Math.max(0, ...this.names.map((one) => this.stuckMs(one)));
    const since = this.#standing.get(name)?.behindSinceMs ?? null;
    return since === null ? 0 : this.#now() - since;
  }

  /** Returns the consumers that have not moved for longer than `forMs` although they are behind. */
  standingStill(forMs: number): readonly Name[] {
    return this.names.filter((name) => this.stuckMs(name) > forMs);
  }

  /** Returns the consumers that have not reached the newest known head. */
  behind(): readonly Name[] {
    return this.names.filter((name) => this.#isBehind(this.#standing.get(name) as Standing));
  }

  /** The position that all consumers have passed; null while one has processed nothing. */
  get position(): Position | null {
    const positions = [...this.#standing.values()].map(({ position }) => position);
    return positions.reduce((a, b) => (a === null || b === null ? null : a < b ? a : b));
  }
  get head(): Position | null {
    return this.#head;
  }

  caughtUp(timeoutMs: number, names: readonly Name[] = this.names): Promise<boolean> {
    const head = this.#head;
    if (head === null || this.#havePassed(names, head)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = { head, names, resolve, timer: setTimeout(() => this.#settle(waiter, false), timeoutMs) };
      this.#waiters.add(waiter);
    });
  }

  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #isBehind({ position }: Standing): boolean {
    return this.#head !== null && (position === null || position < this.#head);
  }

  #havePassed(names: readonly string[], head: Position): boolean {
    return names.every((name) => (this.#standing.get(name)?.position ?? '') >= head);
  }

  #settle(waiter: Waiter, passed: boolean): void {
    clearTimeout(waiter.timer);
    this.#waiters.delete(waiter);
    waiter.resolve(passed);
  }
}

/** Waits until a read model has passed the log's current head, including events of other processes. */
export const caughtUp =
  (store: Pick<EventStore, 'head'>, progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>): CaughtUp =>
  async (model, timeoutMs) => {
    const head = await store.head();
    if (head !== null) progress.sawHead(head); // another process's events may not be announced yet
    return { head, isCaughtUp: await progress.caughtUp(timeoutMs, [model]) };
  };

const LOOK_MS = 500;

/**
 * Follows the progress of consumers in other processes. Notices arrive at once. Because one can be missed, the checkpoints are also read at
 * the start, and again while a consumer seems stuck. Returns a function that stops this.
 */
export const watchCheckpoints = async (
  db: Sql,
  progress: LogProgress,
  onError: (error: Error) => void,
): Promise<() => Promise<void>> => {
  const look = async () => {
    for (const { name, position } of (await readCheckpoints(db, progress.names)).values())
      if (position !== null) progress.moved([name], position);
  };
  await look();
  return repeating(LOOK_MS, () => progress.stuckMs() > LOOK_MS && look(), { onError }).stop;
};
