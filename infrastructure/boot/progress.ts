// How far a group of followers is behind the log, as this process knows it: its own appends and followers at once, those of other
// processes by their notices (design §6).
import type { EventStore, Position } from '../../application/ports/eventStore.ts';
import type { Progress } from '../../application/ports/readModels.ts';
import type { Notices } from '../postgres/notices.ts';

interface Waiter {
  readonly head: Position;
  readonly resolve: (passed: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class LogProgress implements Progress {
  #head: Position | null = null;
  #position: Position | null = null;
  #behindSinceMs: number | null = null;
  readonly #now: () => number;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<() => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Follows the heads that the store announces, and the notices of followers of `role` in other processes. */
  async follow(store: EventStore, notices: Notices, role: string): Promise<void> {
    store.onHead((head) => this.sawHead(head));
    await notices.on('quita_progress', (payload) => {
      const [of, position] = payload.split(' ');
      if (of === role && position) this.moved(position as Position);
    });
    const head = await store.head();
    if (head !== null) this.sawHead(head);
  }

  sawHead(head: Position): void {
    if (this.#head !== null && head <= this.#head) return;
    this.#head = head;
    if (this.#behindSinceMs === null && this.#isBehind()) this.#behindSinceMs = this.#now();
  }

  moved(position: Position): void {
    if (this.#position !== null && position <= this.#position) return;
    this.#position = position;
    // Behind some event for as long as it was never level with the head: under load it is always a little behind.
    this.#behindSinceMs = this.#isBehind() ? this.#now() : null;
    for (const waiter of this.#waiters) if (waiter.head <= position) this.#settle(waiter, true);
    for (const listener of this.#listeners) listener();
  }

  /** Milliseconds without any move while there is something to take; 0 when it is level. */
  stuckMs(): number {
    return this.#behindSinceMs === null ? 0 : this.#now() - this.#behindSinceMs;
  }

  get position(): Position | null {
    return this.#position;
  }
  get head(): Position | null {
    return this.#head;
  }

  caughtUp(timeoutMs: number): Promise<boolean> {
    const head = this.#head;
    if (head === null || !this.#isBehind()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = { head, resolve, timer: setTimeout(() => this.#settle(waiter, false), timeoutMs) };
      this.#waiters.add(waiter);
    });
  }

  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #isBehind(): boolean {
    return this.#head !== null && (this.#position === null || this.#position < this.#head);
  }

  #settle(waiter: Waiter, passed: boolean): void {
    clearTimeout(waiter.timer);
    this.#waiters.delete(waiter);
    waiter.resolve(passed);
  }
}
