// Folded states of streams in memory. Accounts and keyrings have caches of their own, because every request needs those of its tenant: a
// burst of payments must not displace them. Payments have a small one of their own: they come fastest, most are needed again soon or not
// at all, and the garbage collector visits all that are kept. Each cache is bounded by the estimated bytes of its states.
import { LRUCache } from 'lru-cache';
import { ACCOUNT } from '../../domain/account/account.ts';
import { type AnyAggregate, readStreamName } from '../../domain/kernel/aggregate.ts';
import type { StreamName } from '../../domain/kernel/ids.ts';
import { KEYRING } from '../../domain/keyring/keyring.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';

interface Cached {
  readonly state: unknown;
  readonly revision: number;
}

interface Bounds {
  readonly maxBytes: number;
  /** Returns an estimate of a state's bytes on the heap. */
  readonly bytesOf: (cached: Cached) => number;
}

const MB = 1_000_000;
const byEvents =
  (base: number, each: number): Bounds['bytesOf'] =>
  ({ revision }) =>
    base + each * (revision + 1);

// Measured: an account has 1.6 kB, a paid payment 1.8 kB, besides the cache's own entry. Payments and keyrings grow by the event; that
// estimate costs nothing. Accounts are measured, because their lists of settings may be long; they are rarely read or written.
const growing = byEvents(1_200, 300);
const OTHERS: Bounds = { maxBytes: 24 * MB, bytesOf: growing };
const OWN: readonly (readonly [Pick<AnyAggregate, 'category'>, Bounds])[] = [
  [ACCOUNT, { maxBytes: 32 * MB, bytesOf: ({ state }) => 600 + Math.ceil(1.2 * (JSON.stringify(state) ?? '').length) }],
  [PAYMENT, { maxBytes: 8 * MB, bytesOf: growing }],
  [KEYRING, { maxBytes: 16 * MB, bytesOf: byEvents(400, 300) }],
];

const cacheOf = ({ maxBytes, bytesOf }: Bounds): LRUCache<StreamName, Cached> =>
  new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });

/** Cached states may be stale: an append proves or disproves the decision. */
export class StateCache {
  readonly #own = new Map<string, LRUCache<StreamName, Cached>>(
    OWN.map(([{ category }, bounds]) => [category, cacheOf(bounds)]),
  );
  readonly #others = cacheOf(OTHERS);

  get(stream: StreamName): Cached | undefined {
    return this.#of(stream).get(stream);
  }

  /** Like `get`, but the state does not count as used. */
  peek(stream: StreamName): Cached | undefined {
    return this.#of(stream).peek(stream);
  }

  set(stream: StreamName, cached: Cached): void {
    this.#of(stream).set(stream, cached);
  }

  delete(stream: StreamName): void {
    this.#of(stream).delete(stream);
  }

  clear(): void {
    for (const cache of [...this.#own.values(), this.#others]) cache.clear();
  }

  #of(stream: StreamName): LRUCache<StreamName, Cached> {
    return this.#own.get(readStreamName(stream).category) ?? this.#others;
  }
}
