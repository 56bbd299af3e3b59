// Counts requests by the minute, for this process and all others of its deployment: it lets them in by shares of the minute that it takes
// in batches, ahead of need (ADR 0010). While shares can't be had it counts by itself.

import { LRUCache } from 'lru-cache';
import { type Repeating, repeating } from '../../application/ports/repeating.ts';
import type { ShareGrant, ShareRequest, TakeShares } from '../../application/ports/requestShares.ts';

const MINUTE_MS = 60_000;
/** How often shares are asked for that no request waits for. */
const BATCH_MS = 100;
/** Requests wait for shares so long at most, give or take a batch; then each process counts by itself until it is answered again. */
const ANSWER_MS_MAX = 500;
/** How soon shares are asked for again after a failure. */
const RETRY_MS = 1_000;
/** Shares that were not used for so long go back, because another process may have the requests now. */
const IDLE_MS = 2_000;

/** Of what is free in a minute, at most one part of so many is given ahead. */
const QUARTER = 4;

export interface MinuteLimit {
  /** 0: requests are counted and never refused. */
  readonly perMinute: number;
  /** Requests of a minute that each process lets in before it takes a share: all processes together may let in so many more each. */
  readonly credit: number;
}

/** `left`: requests left in the minute, as far as this process knows; Infinity without a limit. It never grows within one. */
export type Judged =
  | { readonly isIn: true; readonly left: number }
  /** `isFirst`: of its minute. `secondsLeft`: until the minute ends, whole, at least 1. */
  | { readonly isIn: false; readonly left: 0; readonly isFirst: boolean; readonly secondsLeft: number };

interface MinuteWindow {
  readonly name: string;
  limit: MinuteLimit;
  /** Requests let in here. */
  used: number;
  refused: number;
  waiting: number;
  /** Shares that this process has taken. */
  shares: number;
  /** Shares of all processes, as last heard. */
  taken: number;
  /** Of the deployment's minute; null: this process has not asked for shares of it yet. */
  began: number | null;
  /** By this process's clock. */
  endsAt: number;
  countedAt: number;
  leastLeft: number;
  isReported: boolean;
}

interface MinuteWindowsOptions {
  /** Names that are remembered: those counted last. */
  readonly remembered: number;
  /** null: this process counts by itself. */
  readonly takeShares: TakeShares | null;
  /** In milliseconds, from any beginning. */
  readonly now?: () => number;
}

export class MinuteWindows {
  readonly #windows: LRUCache<string, MinuteWindow>;
  readonly #takeShares: TakeShares | null;
  readonly #now: () => number;
  readonly #ticking: Repeating | null;
  /** Those that ask for shares in the next batch. */
  readonly #asking = new Set<MinuteWindow>();
  /** Those that hold shares which may go back. */
  readonly #holding = new Set<MinuteWindow>();
  /** Settled when the batch is answered that takes up what waits now, or when there is no more waiting. */
  #next: PromiseWithResolvers<void> | null = null;
  #batch: { readonly sentAt: number; readonly answered: PromiseWithResolvers<void> } | null = null;
  /** When shares may be asked for again; null: they can be had. */
  #retryAt: number | null = null;

  constructor({ remembered, takeShares, now = () => performance.now() }: MinuteWindowsOptions) {
    this.#windows = new LRUCache({
      max: remembered,
      dispose: (window) => {
        this.#asking.delete(window);
        this.#holding.delete(window);
      },
    });
    this.#takeShares = takeShares;
    this.#now = now;
    this.#ticking = takeShares === null ? null : repeating(BATCH_MS, () => this.tick());
  }

  /** Counts a request and says whether it is within the limit: at once, unless it has to wait for a share. */
  count(name: string, limit: MinuteLimit): Judged | Promise<Judged> {
    const window = this.#windowOf(name, limit);
    return this.#judge(window) ?? this.#whenShared(window);
  }

  /** Asks for shares ahead of need, gives back idle ones, and lets nobody wait longer for an answer that is late. Called by a timer. */
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

  /** Whoever waits is judged by this process's own count. */
  close(): void {
    void this.#ticking?.stop();
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#batch?.answered.resolve();
    this.#endWaiting();
  }

  /** A minute begins with its first request. */
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
      ...{ used: 0, refused: 0, waiting: 0, shares: 0, taken: 0, began: null },
      endsAt: now + MINUTE_MS,
      countedAt: now,
      leastLeft: Number.POSITIVE_INFINITY,
      isReported: false,
    };
    this.#windows.set(name, fresh);
    return fresh;
  }

  /** Whether it is still the one of its name: neither over nor forgotten. */
  #isKnown(window: MinuteWindow): boolean {
    return this.#windows.peek(window.name) === window;
  }

  /** null: it has to wait for a share. */
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
    // Another process may give shares back.
    if (othersOf(window) > 0) this.#asking.add(window);
    const secondsLeft = Math.max(1, Math.ceil((window.endsAt - this.#now()) / 1000));
    return { isIn: false, left: 0, isFirst, secondsLeft };
  }

  /** The minute may end meanwhile: then the request is one of the next. */
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

  /** One batch at a time; what waits meanwhile is in the next one. */
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
        // What was to go back may have: it is not used again. What is owed is told with the next batch.
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
    window.shares -= back; // they are used no more, whatever becomes of the batch
    window.taken -= back; // by nobody else either
    return { ...asked, owed: -back, ahead: 0 };
  }

  #granted(window: MinuteWindow, { owed }: ShareRequest, grant: ShareGrant | undefined): void {
    if (!this.#isKnown(window)) return;
    if (grant === undefined) return void this.#windows.delete(window.name);
    window.began = grant.began;
    window.endsAt = this.#now() + grant.leftMs;
    window.shares += grant.granted - Math.min(owed, 0);
    window.taken = grant.taken;
    if (unneeded(window) > 0) this.#holding.add(window);
  }
}

/** Another limit may begin in the middle of a minute: what was asked so far counts, refused requests too. */
const withLimit = (window: MinuteWindow, limit: MinuteLimit): MinuteWindow => {
  if (limit.perMinute === window.limit.perMinute) return window;
  window.used += window.refused;
  window.refused = 0;
  window.leastLeft = Number.POSITIVE_INFINITY;
  window.limit = limit;
  return window;
};

/** Shares of other processes, as last heard. */
const othersOf = ({ taken, shares }: MinuteWindow): number => Math.max(taken - shares, 0);

/** So much of a limit a process may hold without using it, so that for a key that is seldom used it asks once a minute. */
const SPARE = 1 / 50;
const spareOf = ({ perMinute, credit }: MinuteLimit): number => Math.max(Math.floor(perMinute * SPARE), credit);

/** Half of what was used so far: a busy process asks seldom, and one that the requests leave holds little. */
const aheadOf = ({ used, limit }: MinuteWindow): number => Math.max(Math.ceil(used / 2), spareOf(limit), 1);

/** Whether less than half is there of what would be taken ahead. */
const isLow = (window: MinuteWindow): boolean => {
  const { limit, used, shares, taken } = window;
  const free = Math.max(limit.perMinute - Math.max(taken, used), 0);
  return shares < used || shares - used < Math.min(aheadOf(window), Math.ceil(free / QUARTER)) / 2;
};

const isIdle = ({ waiting, countedAt }: MinuteWindow, now: number): boolean =>
  waiting === 0 && now >= countedAt + IDLE_MS;

/** Shares that may go back. */
const unneeded = ({ shares, used, limit }: MinuteWindow): number => Math.max(shares - used - spareOf(limit), 0);
