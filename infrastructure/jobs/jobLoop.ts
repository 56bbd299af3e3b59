// Claims jobs of one queue and runs them, up to a limit at once and a limit per group, woken by notices, polling as the safety net.
import type { JobHandler } from '../../application/ports/jobs.ts';

export interface ClaimedJob {
  readonly id: string;
  readonly items: readonly string[];
  readonly group: string | null;
}
export interface Claims {
  claim(max: number, ignoreGroups: readonly string[]): Promise<readonly ClaimedJob[]>;
  done(ids: readonly string[]): Promise<void>;
  failed(id: string, error: Error): Promise<void>;
  /** Claimed and not begun: open again, as if nobody had claimed them. */
  release(ids: readonly string[]): Promise<void>;
}
interface Limits {
  readonly concurrency: number;
  readonly perGroup: number;
}
interface Listeners {
  readonly onSettled: () => void;
  readonly onError: (error: Error) => void;
}

/** A lost notice costs at most this. */
const POLL_MS = 2_000;

export class JobLoop {
  readonly #claims: Claims;
  readonly #handler: JobHandler;
  readonly #limits: Limits;
  readonly #listeners: Listeners;
  readonly #running = new Set<Promise<void>>();
  readonly #runningIds = new Set<string>();
  readonly #groups = new Map<string, number>();
  #done: string[] = [];
  #poll: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #flushing: Promise<void> | null = null;

  constructor(claims: Claims, handler: JobHandler, limits: Limits, listeners: Listeners) {
    this.#claims = claims;
    this.#handler = handler;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  /** Ids of the claims that run. */
  get runningIds(): readonly string[] {
    return [...this.#runningIds];
  }

  wake(): void {
    if (this.#claiming) this.#again = true;
    else
      this.#claiming = this.#claimAll().finally(() => {
        this.#claiming = null;
      });
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    const atRest = (async () => {
      await this.#claiming; // gives back what it claims from now on
      await Promise.all(this.#running);
    })();
    await Promise.race([atRest, grace]);
    clearTimeout(timer);
    await this.#flushing;
  }

  async #claimAll(): Promise<void> {
    try {
      do {
        this.#again = false;
        const free = this.#limits.concurrency - this.#running.size;
        if (this.#stopped || free <= 0) break; // a job that ends wakes us
        const full = [...this.#groups].flatMap(([group, count]) => (count >= this.#limits.perGroup ? [group] : []));
        const jobs = await this.#claims.claim(free, full);
        const surplus = jobs.filter((job) => !this.#begin(job));
        if (surplus.length > 0) await this.#claims.release(surplus.map(({ id }) => id));
        if (jobs.length === free) this.#again = true;
      } while (this.#again);
    } catch (error) {
      this.#listeners.onError(error as Error);
    }
  }

  /** False: it must not begin. One claim may bring more of a group than the group may run. */
  #begin(job: ClaimedJob): boolean {
    if (this.#stopped || (job.group !== null && (this.#groups.get(job.group) ?? 0) >= this.#limits.perGroup))
      return false;
    if (job.group !== null) this.#groups.set(job.group, (this.#groups.get(job.group) ?? 0) + 1);
    this.#runningIds.add(job.id);
    const run = this.#run(job).finally(() => {
      this.#running.delete(run);
      this.#runningIds.delete(job.id);
      if (job.group !== null) this.#leaveGroup(job.group);
      this.wake();
    });
    this.#running.add(run);
    return true;
  }

  #leaveGroup(group: string): void {
    const left = (this.#groups.get(group) ?? 1) - 1;
    if (left > 0) this.#groups.set(group, left);
    else this.#groups.delete(group);
  }

  async #run(job: ClaimedJob): Promise<void> {
    try {
      await this.#handler.run(job.items, job.group);
    } catch (error) {
      this.#listeners.onError(error as Error);
      await this.#claims.failed(job.id, error as Error).catch(this.#listeners.onError);
      return this.#listeners.onSettled();
    }
    this.#done.push(job.id);
    this.#flushing ??= this.#flush();
    await this.#flushing;
    this.#listeners.onSettled();
  }

  /** Jobs that end while one deletion is under way are deleted together by the next. */
  async #flush(): Promise<void> {
    try {
      while (this.#done.length > 0) await this.#claims.done(this.#done.splice(0));
    } catch (error) {
      this.#listeners.onError(error as Error); // their claims go cold and they run again: that changes nothing
    } finally {
      this.#flushing = null;
    }
  }
}
