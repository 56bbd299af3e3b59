// The age of the oldest event that is not sealed, for a gauge that is read every few seconds, and for operators. Deliveries of webhooks are
// no leaves, and many of them may follow the last leaf, so each is read once.
import { once } from '../core/capability.ts';
import { type Lag, lagAfter } from '../core/lagAfter.ts';
import type { AuditTree, StoredTree } from '../ports/auditTree.ts';
import type { EventStore, Position } from '../ports/eventStore.ts';
import type { Clock } from '../ports/system.ts';
import { isEntry } from './entry.ts';

export interface LagNeeds {
  readonly store: Pick<EventStore, 'subscribe' | 'onRestored'>;
  readonly auditTree: Pick<AuditTree, 'find'>;
  readonly auditClock: Clock;
}

class SealingLag {
  readonly #needs: LagNeeds;
  /** The last leaf of the tree. */
  #leaf: Position | null = null;
  /** The position up to which no event follows that is not sealed. */
  #through: Position | null = null;

  constructor(needs: LagNeeds) {
    this.#needs = needs;
    needs.store.onRestored(() => {
      this.#leaf = null;
      this.#through = null;
    });
  }

  /** Returns the age in seconds; 0 if the tree has all events, null if the log can't be read from its last leaf. */
  async seconds(tree: StoredTree | null): Promise<number | null> {
    for (;;) {
      const lag = await this.#look(tree);
      if (lag === null || lag.isKnown) return lag?.seconds ?? null;
    }
  }

  /** Like `seconds`, but reads a bounded number of events. Returns 0 if those are deliveries; the next call reads on. */
  async secondsSoon(): Promise<number | null> {
    return (await this.#look(await this.#needs.auditTree.find()))?.seconds ?? null;
  }

  async #look(tree: StoredTree | null): Promise<Lag | null> {
    const { store, auditClock } = this.#needs;
    const leaf = tree?.position ?? null;
    if (leaf !== this.#leaf) [this.#leaf, this.#through] = [leaf, leaf];
    const lagFrom = (after: Position | null) => lagAfter(store, auditClock, after, isEntry);
    // The last delivery that was read may have expired.
    const lag = (await lagFrom(this.#through)) ?? (await lagFrom(leaf));
    // Another call may have found a newer leaf meanwhile.
    if (lag !== null && this.#leaf === leaf) this.#through = lag.through;
    return lag;
  }
}

/** Returns the lag of sealing, the same one for the same needs, so that the gauge and operators together read each delivery once. */
export const sealingLagOf = once((needs: LagNeeds) => new SealingLag(needs));
