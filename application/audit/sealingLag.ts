// The age of the oldest event that is not sealed, for a gauge that is read every few seconds. Deliveries of webhooks are no leaves, and
// many of them may follow the last leaf, so each is read once.
import { fromMillis, secondsBetween, type Timestamp } from '../../domain/kernel/time.ts';
import type { AuditTree } from '../ports/auditTree.ts';
import { type EventStore, type Position, UnknownPosition } from '../ports/eventStore.ts';
import type { Clock } from '../ports/system.ts';
import { isEntry } from './entry.ts';

export interface LagNeeds {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly auditTree: Pick<AuditTree, 'find'>;
  readonly auditClock: Clock;
}

/** Events that one call reads, rounded up to a page. */
export const EVENTS_MAX = 10_000;

export class SealingLag {
  readonly #needs: LagNeeds;
  /** The last leaf of the tree. */
  #leaf: Position | null = null;
  /** The position up to which no event follows that is not sealed. */
  #through: Position | null = null;

  constructor(needs: LagNeeds) {
    this.#needs = needs;
  }

  /** For a restored log. */
  forget(): void {
    this.#leaf = null;
    this.#through = null;
  }

  /**
   * Returns the age in seconds. 0: all events are sealed, or the events read so far are deliveries, and the next call reads on. Null: the
   * log can't be read from the last leaf.
   */
  async seconds(): Promise<number | null> {
    const leaf = (await this.#needs.auditTree.find())?.position ?? null;
    if (leaf !== this.#leaf) [this.#leaf, this.#through] = [leaf, leaf];
    try {
      return await this.#read(leaf);
    } catch (error) {
      if (!(error instanceof UnknownPosition || error instanceof RangeError)) throw error;
      if (this.#through === leaf) return null;
      this.#through = leaf; // the last delivery has expired
      return this.seconds();
    }
  }

  async #read(leaf: Position | null): Promise<number> {
    const { store, auditClock } = this.#needs;
    const enough = new AbortController();
    let count = 0;
    try {
      for await (const batch of store.subscribe({ after: this.#through, categories: null, signal: enough.signal })) {
        if (batch.kind === 'events') {
          const next = batch.events.find(isEntry);
          if (next !== undefined) return secondsBetween(next.recordedAt as Timestamp, fromMillis(auditClock.now()));
          count += batch.events.length;
        }
        // Another call may have found a newer leaf meanwhile.
        if (this.#leaf === leaf) this.#through = batch.position;
        if (batch.kind === 'caughtUp' || count >= EVENTS_MAX) break;
      }
      return 0;
    } finally {
      enough.abort();
    }
  }
}
