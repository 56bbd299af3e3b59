// Counts requests per minute across all processes of a deployment. Each process takes shares of a limit in batches, ahead of need, and
// admits requests by its shares (ADR 0010). While shares are unavailable, it admits by its own count.

import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../../application/ports/boundedCache.ts';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { ShareGrant, ShareRequest, TakeShares } from '../../application/ports/requestShares.ts';

const MINUTE_MS = 60_000;
/** Interval of requests for shares that no request is waiting for. */
const BATCH_MS = 100;
/** Longest wait for shares, give or take a batch. After it, the process admits by its own count until it gets an answer again. */
const ANSWER_MS_MAX = 500;
/** Wait after a failure before shares are requested again. */
const RETRY_MS = 1_000;
/** Shares of a window without requests for this long go back, because another process may now get the requests. */
const IDLE_MS = 2_000;

/** At most 1/4 of a minute's free shares is granted ahead of need. */
const QUARTER = 4;

export interface MinuteLimit {
  /** 0: requests are counted and never refused. */
  readonly perMinute: number;
  /** Requests per minute that each process admits before it takes a share. Each process may exceed the limit by this number. */
  readonly credit: number;
}

/** `left`: requests left in the minute, as far as this process knows; Infinity without a limit. It never grows within a minute. */
export type Judged =
  | { readonly isIn: true; readonly left: number }
  /** `isFirst`: the first rejection in its minute. `secondsLeft`: whole seconds until the minute ends, at least 1. */
  | { readonly isIn: false; readonly left: 0; readonly isFirst: boolean; readonly secondsLeft: number };

interface MinuteWindow {
  readonly name: string;
  limit: MinuteLimit;
  /** Requests that this process admitted. */
  used: number;
  refused: number;
  waiting: number;
  /** Shares that this process has taken. */
  shares: number;
  /** Shares of all processes, by the last answer. */
  allShares: number;
  /** Start of the deployment's minute; null until this process has received shares of it. */
  began: number | null;
  /** In this process's time. */
  endsAt: number;
  countedAt: number;
  leastLeft: number;
  isReported: boolean;
}

interface MinuteWindowsOptions {
  /** Number of windows kept in memory; the least recently counted are dropped. */
  readonly remembered: number;
  /** null: this process admits by its own count. */
  readonly takeShares: TakeShares | null;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

export class MinuteWindows {
  readonly #windows: LRUCache<string, MinuteWindow>;
  readonly #takeShares: TakeShares | null;
  readonly #now: () => number;
  readonly #ticking: Repeating | null;
  /** Windows that request shares in the next batch. */
  readonly #asking = new Set<MinuteWindow>();
  /** Windows with shares that may go back. */
  readonly #holding = new Set<MinuteWindow>();
  /** Settles when the next batch is answered or waiting ends. */
  #next: PromiseWithResolvers<void> | null = null;
  #batch: { readonly sentAt: number; readonly answered: PromiseWithResolvers<void> } | null = null;
  /** When shares may be requested again after a failure; null while they are available. */
  #retryAt: number | null = null;

  constructor({ remembered, takeShares, now = () => performance.now() }: MinuteWindowsOptions) {
    this.#windows = boundedCache(remembered, {
      dispose: (window) => {
        this.#asking.delete(window);
        this.#holding.delete(window);
      },
    });
    this.#takeShares = takeShares;
    this.#now = now;
    this.#ticking = takeShares === null ? null : repeating(BATCH_MS, () => this.tick());
  }

  /** Counts a request and returns whether it is within the limit. Returns a promise only if the request must wait for a share. */
  count(name: string, limit: MinuteLimit): Judged | Promise<Judged> {
    const window = this.#windowOf(name, limit);
    return this.#judge(window) ?? this.#whenShared(window);
  }

  /** Requests shares ahead of need, gives back idle ones, and ends the wait for a late answer. Called by a timer. */
  tick(): void {
    const now = this.#now();
    if (this.#batch !== null && now - this.#batch.sentAt >= ANSWER_MS_MAX) {
      this.#retryAt ??= now + RETRY_MS;
      this.#batch.answered.resolve();
      this.#endWaiting();
    }
    for (const window of this.#holding) if (isIdle(window, now)) this.#asking.add(window);
    if (this.#asking.size > 0 && (this.#retryAt === null || now >= this.#retryAt)) this.#send();
  }

  /** Ends the wait of pending requests, which are then admitted by this process's own count. */
  close(): void {
    void this.#ticking?.stop();
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#batch?.answered.resolve();
    this.#endWaiting();
  }

  /** Returns the current window of a name. A minute begins with its first request. */
  #windowOf(name: string, limit: MinuteLimit): MinuteWindow {
    const now = this.#now();
    const known = this.#windows.get(name);
    if (known !== undefined && now < known.endsAt) {
      known.countedAt = now;
      return withLimit(known, limit);
    }
    const fresh: MinuteWindow = {
      name,
      limit,
      ...{ used: 0, refused: 0, waiting: 0, shares: 0, allShares: 0, began: null },
      endsAt: now + MINUTE_MS,
      countedAt: now,
      leastLeft: Number.POSITIVE_INFINITY,
      isReported: false,
    };
    this.#windows.set(name, fresh);
    return fresh;
  }

  /** Returns whether this is still the window of its name, neither replaced nor dropped. */
  #isKnown(window: MinuteWindow): boolean {
    return this.#windows.peek(window.name) === window;
  }

  /** Returns whether the request is admitted, or null if it must wait for a share. */
  #judge(window: MinuteWindow): Judged | null {
    const { limit, used, shares, began } = window;
    if (limit.perMinute === 0) return this.#letIn(window, Number.POSITIVE_INFINITY);
    const left = limit.perMinute - othersOf(window) - used - 1;
    if (left < 0) return this.#refuse(window);
    const isAlone = this.#takeShares === null || this.#retryAt !== null;
    const isIn = used < shares || isAlone || (began === null && used < limit.credit);
    return isIn ? this.#letIn(window, left) : null;
  }

  #letIn(window: MinuteWindow, left: number): Judged {
    window.used += 1;
    window.leastLeft = Math.min(window.leastLeft, left);
    if (this.#takeShares !== null && left !== Number.POSITIVE_INFINITY && isLow(window)) this.#asking.add(window);
    return { isIn: true, left: window.leastLeft };
  }

  #refuse(window: MinuteWindow): Judged {
    const isFirst = !window.isReported;
    window.isReported = true;
    window.refused += 1;
    window.leastLeft = 0;
    // Ask again, because another process may give shares back.
    if (othersOf(window) > 0) this.#asking.add(window);
    const secondsLeft = Math.max(1, Math.ceil((window.endsAt - this.#now()) / 1000));
    return { isIn: false, left: 0, isFirst, secondsLeft };
  }

  /** Waits for a share. If the minute ends meanwhile, the request counts in the next one. */
  async #whenShared(window: MinuteWindow): Promise<Judged> {
    for (let current = window; ; current = this.#windowOf(window.name, window.limit)) {
      const judged = this.#judge(current);
      if (judged !== null) return judged;
      current.waiting += 1;
      this.#asking.add(current);
      this.#next ??= Promise.withResolvers();
      const { promise } = this.#next;
      this.#send();
      await promise;
      current.waiting -= 1;
    }
  }

  #endWaiting(): void {
    this.#next?.resolve();
    this.#next = null;
  }

  /** Sends the next batch, unless one is under way. */
  #send(): void {
    if (this.#batch !== null || this.#takeShares === null) return;
    const now = this.#now();
    const windows = [...this.#asking].filter(({ limit, endsAt }) => limit.perMinute !== 0 && now < endsAt);
    this.#asking.clear();
    if (windows.length === 0) {
      this.#endWaiting();
      return;
    }
    const requests = windows.map((window) => this.#requestOf(window, now));
    const answered = this.#next ?? Promise.withResolvers<void>();
    this.#next = null;
    this.#batch = { sentAt: now, answered };
    this.#takeShares(requests)
      .then((grants) => {
        if (this.#retryAt !== Number.POSITIVE_INFINITY) this.#retryAt = null;
        for (const [i, window] of windows.entries())
          this.#granted(window, requests[i] as ShareRequest, grants.get(window.name));
      })
      .catch(() => {
        // Returned shares are not used again, because the batch may have arrived. Owed shares are reported with the next batch.
        if (this.#retryAt !== Number.POSITIVE_INFINITY) this.#retryAt = this.#now() + RETRY_MS;
        for (const window of windows) if (this.#isKnown(window)) this.#asking.add(window);
      })
      .finally(() => {
        this.#batch = null;
        answered.resolve();
        if (this.#retryAt !== null) this.#endWaiting();
        else if (this.#next !== null) this.#send();
      });
  }

  #requestOf(window: MinuteWindow, now: number): ShareRequest {
    const { name, limit, used, waiting, began, shares } = window;
    const asked = { name, perMinute: limit.perMinute, began, waiting };
    this.#holding.delete(window);
    const back = isIdle(window, now) ? unneeded(window) : 0;
    if (back === 0) return { ...asked, owed: Math.max(used - shares, 0), ahead: aheadOf(window) };
    window.shares -= back; // not used again, even if the batch fails
    window.allShares -= back;
    return { ...asked, owed: -back, ahead: 0 };
  }

  #granted(window: MinuteWindow, { owed }: ShareRequest, grant: ShareGrant | undefined): void {
    if (!this.#isKnown(window)) return;
    if (grant === undefined) return void this.#windows.delete(window.name);
    window.began = grant.began;
    window.endsAt = this.#now() + grant.leftMs;
    window.shares += grant.granted - Math.min(owed, 0);
    window.allShares = grant.taken;
    if (unneeded(window) > 0) this.#holding.add(window);
  }
}

/** Sets the limit of a window. If it changes within a minute, earlier requests count, rejected ones included. */
const withLimit = (window: MinuteWindow, limit: MinuteLimit): MinuteWindow => {
  if (limit.perMinute === window.limit.perMinute) return window;
  window.used += window.refused;
  window.refused = 0;
  window.leastLeft = Number.POSITIVE_INFINITY;
  window.limit = limit;
  return window;
};

/** Returns the shares of other processes, by the last answer. */
const othersOf = ({ allShares, shares }: MinuteWindow): number => Math.max(allShares - shares, 0);

/** Part of a limit that a process may hold unused, so that a rarely used key needs one request for shares per minute. */
const SPARE = 1 / 50;
const spareOf = ({ perMinute, credit }: MinuteLimit): number => Math.max(Math.floor(perMinute * SPARE), credit);

/** Returns the shares to take ahead: half of those used so far. Busy processes ask rarely, and idle ones hold few shares. */
const aheadOf = ({ used, limit }: MinuteWindow): number => Math.max(Math.ceil(used / 2), spareOf(limit), 1);

/** Returns whether fewer shares are left than half of those it would take ahead. */
const isLow = (window: MinuteWindow): boolean => {
  const { limit, used, shares, allShares } = window;
  const free = Math.max(limit.perMinute - Math.max(allShares, used), 0);
  return shares < used || shares - used < Math.min(aheadOf(window), Math.ceil(free / QUARTER)) / 2;
};

const isIdle = ({ waiting, countedAt }: MinuteWindow, now: number): boolean =>
  waiting === 0 && now >= countedAt + IDLE_MS;

/** Returns the number of shares that may go back. */
const unneeded = ({ shares, used, limit }: MinuteWindow): number => Math.max(shares - used - spareOf(limit), 0);
