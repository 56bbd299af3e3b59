// How far each follower of a group is behind the log, as this process knows it: its own appends and followers at once, those of other
// processes by their notices (architecture §6).
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { Progress } from '../../application/ports/readModels/progress.ts';
import type { NotificationListener } from '../postgres/notificationListener.ts';

interface Waiter {
  readonly head: Position;
  readonly names: readonly string[];
  readonly resolve: (passed: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

interface Standing {
  position: Position | null;
  /** When it last moved while there was more to take; null: it is level. */
  behindSinceMs: number | null;
}

export class LogProgress<Name extends string = string> implements Progress<Name> {
  readonly names: readonly Name[];
  readonly #now: () => number;
  readonly #standing: ReadonlyMap<string, Standing>;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<() => void>();
  #head: Position | null = null;

  /** `names`: the followers of the group. */
  constructor(now: () => number, names: readonly Name[]) {
    this.#now = now;
    this.names = names;
    this.#standing = new Map(names.map((name) => [name, { position: null, behindSinceMs: null }]));
  }

  /** Follows the heads that the store announces, and the notices of followers of `role` in other processes. */
  async follow(store: EventStore, notices: NotificationListener, role: string): Promise<void> {
    store.onHead((head) => this.sawHead(head));
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

  /** Names of other groups are ignored. */
  moved(names: readonly string[], position: Position): void {
    let hasMoved = false;
    for (const name of names) {
      const standing = this.#standing.get(name);
      if (standing === undefined || (standing.position !== null && position <= standing.position)) continue;
      standing.position = position;
      // Behind some event for as long as it was never level with the head: under load it is always a little behind.
      standing.behindSinceMs = this.#isBehind(standing) ? this.#now() : null;
      hasMoved = true;
    }
    if (!hasMoved) return;
    for (const waiter of this.#waiters) if (this.#havePassed(waiter.names, waiter.head)) this.#settle(waiter, true);
    for (const listener of this.#listeners) listener();
  }

  /** Milliseconds that the follower has not moved while there is something to take, 0 when it is level; default: of the slowest. */
  stuckMs(name?: Name): number {
    if (name === undefined) return Math.max(0, ...this.names.map((one) => this.stuckMs(one)));
    const since = this.#standing.get(name)?.behindSinceMs ?? null;
    return since === null ? 0 : this.#now() - since;
  }

  /** Those that have stood still for longer while there is something to take. */
  standingStill(forMs: number): readonly Name[] {
    return this.names.filter((name) => this.stuckMs(name) > forMs);
  }

  /** Those that are not level with the newest head known. */
  behind(): readonly Name[] {
    return this.names.filter((name) => this.#isBehind(this.#standing.get(name) as Standing));
  }

  /** All followers have passed it. */
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
