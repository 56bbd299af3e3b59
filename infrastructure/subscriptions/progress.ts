// How far each consumer of a group is behind the log, as this process knows it. It learns of its own appends and consumers at once, of
// those of other processes by notices (architecture §6).

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
  /** When it last moved while there was more to take; null: it has caught up. */
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

  /** The log was restored to an older state: how far the consumers are has to be learnt again. */
  reset(head: Position | null): void {
    this.#head = head;
    for (const standing of this.#standing.values()) {
      standing.position = null;
      standing.behindSinceMs = head === null ? null : this.#now();
    }
  }

  /** Names of other groups are ignored. */
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

  /** Milliseconds for which the consumer has not moved although it is behind, 0 when it has caught up; without a name, of the slowest. */
  stuckMs(name?: Name): number {
    if (name === undefined) return Math.max(0, ...this.names.map((one) => this.stuckMs(one)));
    const since = this.#standing.get(name)?.behindSinceMs ?? null;
    return since === null ? 0 : this.#now() - since;
  }

  /** Names of the consumers that have not moved for longer than `forMs` although they are behind. */
  standingStill(forMs: number): readonly Name[] {
    return this.names.filter((name) => this.stuckMs(name) > forMs);
  }

  /** Names of the consumers that have not reached the newest head known. */
  behind(): readonly Name[] {
    return this.names.filter((name) => this.#isBehind(this.#standing.get(name) as Standing));
  }

  /** The position that all consumers have passed; null while one has taken nothing. */
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

/** Waits until a read model has passed whatever is in the log, written by whichever process. */
export const caughtUp =
  (store: Pick<EventStore, 'head'>, progress: Pick<LogProgress<ReadModelName>, 'sawHead' | 'caughtUp'>): CaughtUp =>
  async (model, timeoutMs) => {
    const head = await store.head();
    if (head !== null) progress.sawHead(head); // what another process wrote may not have been announced yet
    return { head, isCaughtUp: await progress.caughtUp(timeoutMs, [model]) };
  };

const LOOK_MS = 500;

/**
 * Learns how far consumers in other processes are. Their notices come at once; because one can be missed, their checkpoints are read at the
 * start, and again while a consumer seems stuck. Returns a function that stops it.
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
