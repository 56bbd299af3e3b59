// Claims jobs of one queue and lane and runs them: as many at once as there are places, shared out between tenants and bounded by
// target, woken by notices, polling as the safety net.
import type { JobHandler, JobPayload, Places } from '../../application/ports/jobs.ts';

/** The attempt fences the claim: the next claim of the same job has another. */
export interface Claim {
  readonly id: string;
  readonly attempt: number;
}
export interface ClaimedJob extends Claim {
  readonly payloads: readonly JobPayload[];
  readonly tenant: string;
  /** '' for none. */
  readonly target: string;
}
/** How many jobs may be claimed, and of whom. */
export interface Room {
  readonly free: number;
  /** Of a tenant that holds no place. */
  readonly perTenant: number;
  readonly perTarget: number;
  /** Tenants and targets that hold places: how many, and how many more. */
  readonly tenants: readonly { readonly tenant: string; readonly held: number; readonly room: number }[];
  readonly targets: readonly { readonly tenant: string; readonly target: string; readonly room: number }[];
}
export interface Claims {
  /** `lost`: some were claimed by another worker meanwhile, there may be more. */
  claim(room: Room): Promise<{ readonly jobs: readonly ClaimedJob[]; readonly lost: number }>;
  done(claims: readonly Claim[]): Promise<void>;
  failed(job: ClaimedJob, error: Error): Promise<void>;
  /** Claimed and not begun: open again, as if nobody had claimed them. */
  release(claims: readonly Claim[]): Promise<void>;
}
interface Listeners {
  readonly onSettled: () => void;
  readonly onError: (error: Error) => void;
}
interface Run {
  readonly job: ClaimedJob;
  readonly sinceMs: number;
  readonly giveUp: (error: Error) => void;
}

/** A lost notice costs at most this. */
const POLL_MS = 2_000;

/**
 * How many more places a tenant that holds `held` of them may take while `free` are left: as long as it has no more than half of what is
 * then still free. So places are left for whoever comes, however many tenants do their worst. One is never refused to a tenant
 * that holds none.
 */
export const roomOf = (held: number, free: number): number =>
  Math.max(Math.floor((free - 2 * held) / 3), held === 0 ? 1 : 0);

export class JobLoop {
  readonly #claims: Claims;
  readonly #handler: JobHandler;
  readonly #limits: Places;
  readonly #listeners: Listeners;
  readonly #runs = new Set<Run>();
  readonly #ending = new Set<Promise<void>>();
  #done: Claim[] = [];
  #poll: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #flushing: Promise<void> | null = null;

  constructor(claims: Claims, handler: JobHandler, limits: Places, listeners: Listeners) {
    this.#claims = claims;
    this.#handler = handler;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  /** The claims that run. */
  get claims(): readonly Claim[] {
    return [...this.#runs].map(({ job }) => job);
  }

  wake(): void {
    if (this.#claiming) this.#again = true;
    else
      this.#claiming = this.#claimAll().finally(() => {
        this.#claiming = null;
      });
  }

  /** What has run for longer hangs: it fails, and its place is free. What it still comes to is nobody's any more. */
  giveUp(longerThanMs: number): void {
    const beforeMs = performance.now() - longerThanMs;
    for (const { sinceMs, giveUp } of this.#runs)
      if (sinceMs < beforeMs) giveUp(new Error(`not over after ${longerThanMs / 1_000} s`));
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
      await Promise.all(this.#ending);
    })();
    await Promise.race([atRest, grace]);
    clearTimeout(timer);
    await this.#flushing;
  }

  async #claimAll(): Promise<void> {
    try {
      do {
        this.#again = false;
        const room = this.#room();
        if (this.#stopped || room.free <= 0) break; // a job that ends wakes us
        const { jobs, lost } = await this.#claims.claim(room);
        if (this.#stopped) {
          if (jobs.length > 0) await this.#claims.release(jobs);
          break;
        }
        for (const job of jobs) this.#begin(job);
        if (lost > 0) this.#again = true;
      } while (this.#again);
    } catch (error) {
      this.#listeners.onError(error as Error);
    }
  }

  #room(): Room {
    const free = this.#limits.places - this.#runs.size;
    const tenants = new Map<string, { held: number; readonly targets: Map<string, number> }>();
    for (const { job } of this.#runs) {
      const { tenant, target } = job;
      const holder = tenants.get(tenant) ?? { held: 0, targets: new Map() };
      holder.held++;
      holder.targets.set(target, (holder.targets.get(target) ?? 0) + 1);
      tenants.set(tenant, holder);
    }
    const { perTarget } = this.#limits;
    return {
      free,
      perTenant: roomOf(0, free),
      perTarget,
      tenants: [...tenants].map(([tenant, { held }]) => ({ tenant, held, room: roomOf(held, free) })),
      targets: [...tenants].flatMap(([tenant, { targets }]) =>
        [...targets].map(([target, count]) => ({ tenant, target, room: Math.max(0, perTarget - count) })),
      ),
    };
  }

  #begin(job: ClaimedJob): void {
    const { promise: hung, reject: giveUp } = Promise.withResolvers<never>();
    const run: Run = { job, sinceMs: performance.now(), giveUp };
    this.#runs.add(run);
    const ended = this.#run(job, hung, () => {
      this.#runs.delete(run);
      this.wake();
    }).finally(() => {
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
  }

  async #run(job: ClaimedJob, hung: Promise<never>, leave: () => void): Promise<void> {
    try {
      const target = job.target === '' ? null : job.target;
      await Promise.race([this.#handler.run(job.payloads, target, job.attempt > 0), hung]);
    } catch (error) {
      await this.#claims.failed(job, error as Error).catch(this.#listeners.onError);
      leave();
      return this.#listeners.onSettled();
    }
    this.#done.push(job);
    this.#flushing ??= this.#flush();
    await this.#flushing;
    leave();
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
