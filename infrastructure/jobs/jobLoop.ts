// Claims jobs of one queue and lane and runs them: as many at once as there are places, shared out between tenants and bounded by
// target, whenever it is woken.
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
  /** Ends those that are `done`, and claims others. `lost`: some were claimed by another worker meanwhile, there may be more. */
  claim(room: Room, done: readonly Claim[]): Promise<{ readonly jobs: readonly ClaimedJob[]; readonly lost: number }>;
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
/** A claim whose work is done, while the database is told. */
interface Ended {
  readonly claim: Claim;
  readonly settle: () => void;
}

/**
 * How many more places a tenant that holds `held` of them may take while `free` are left: as long as it has no more than half of what is
 * then still free. So places are left for whoever comes, however many tenants do their worst. One is never refused to a tenant
 * that holds none.
 */
export const roomOf = (held: number, free: number): number =>
  Math.max(Math.floor((free - 2 * held) / 3), held === 0 ? 1 : 0);

/** Whether a claim left none behind that could run but for its bounds: there was room for more of all, of each tenant and each target. */
export const isAll = (jobs: readonly ClaimedJob[], { free, perTenant, perTarget, tenants, targets }: Room): boolean => {
  const isFull = ({ room }: { readonly room: number }): boolean => room === 0;
  if (jobs.length >= free || tenants.some(isFull) || targets.some(isFull)) return false;
  return [...Map.groupBy(jobs, ({ tenant }) => tenant)].every(([tenant, own]) => {
    const room = tenants.find((known) => known.tenant === tenant)?.room ?? perTenant;
    const roomAt = (target: string): number =>
      targets.find((known) => known.tenant === tenant && known.target === target)?.room ?? perTarget;
    const byTarget = [...Map.groupBy(own, ({ target }) => target)];
    return own.length < room && byTarget.every(([target, { length }]) => length < roomAt(target));
  });
};

export class JobLoop {
  readonly #claims: Claims;
  readonly #handler: JobHandler;
  readonly #limits: Places;
  readonly #listeners: Listeners;
  readonly #runs = new Set<Run>();
  readonly #ending = new Set<Promise<void>>();
  /** Those that are done and of which the database has yet to be told. */
  #ended: Ended[] = [];
  /** Whether jobs may wait for which there is room now. */
  #mayWait = true;
  /** Whether jobs may wait for which there was none. While there are no such, a job that ends need not ask for others. */
  #isSomeLeft = false;
  /** Places that were given back so far. */
  #givenBack = 0;
  #isTurning = false;
  #turns: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(claims: Claims, handler: JobHandler, limits: Places, listeners: Listeners) {
    this.#claims = claims;
    this.#handler = handler;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  /** The claims that run. */
  get claims(): readonly Claim[] {
    return [...this.#runs].map(({ job }) => job);
  }

  wake(): void {
    this.#mayWait = true;
    this.#turn();
  }

  /** What has run for longer hangs: it fails, and its place is free. What it still comes to is nobody's any more. */
  giveUp(longerThanMs: number): void {
    const beforeMs = performance.now() - longerThanMs;
    for (const { sinceMs, giveUp } of this.#runs)
      if (sinceMs < beforeMs) giveUp(new Error(`not over after ${longerThanMs / 1_000} s`));
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    const atRest = (async () => {
      await this.#turns; // gives back what it claims from now on
      await Promise.all(this.#ending);
    })();
    await Promise.race([atRest, grace]);
    clearTimeout(timer);
    await this.#turns;
  }

  #turn(): void {
    if (!this.#isTurning) this.#turns = this.#takeTurns();
  }

  /** One statement at a time: jobs that end meanwhile are told of by the next, which claims others where some may wait. */
  async #takeTurns(): Promise<void> {
    this.#isTurning = true;
    const mayClaim = (): boolean => this.#mayWait && !this.#stopped && this.#runs.size < this.#limits.places;
    while (this.#ended.length > 0 || mayClaim()) {
      const ended = this.#ended.splice(0);
      const done = ended.map(({ claim }) => claim);
      try {
        if (mayClaim()) await this.#claim(done);
        else await this.#claims.done(done);
      } catch (error) {
        this.#isSomeLeft = true;
        this.#listeners.onError(error as Error); // claims that may not be over go cold and run again: that changes nothing
      }
      for (const { settle } of ended) settle();
    }
    this.#isTurning = false;
  }

  async #claim(done: readonly Claim[]): Promise<void> {
    const room = this.#room();
    const givenBack = this.#givenBack;
    this.#mayWait = false;
    const claimed = await this.#claims.claim(room, done);
    if (this.#stopped) {
      if (claimed.jobs.length > 0) await this.#claims.release(claimed.jobs);
      return;
    }
    for (const job of claimed.jobs) this.#begin(job);
    this.#isSomeLeft = !isAll(claimed.jobs, room);
    // A place that was given back meanwhile was none yet for this claim.
    if (claimed.lost > 0 || (this.#isSomeLeft && givenBack < this.#givenBack)) this.#mayWait = true;
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
    const ended = this.#run(run, hung).finally(() => {
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
  }

  async #run(run: Run, hung: Promise<never>): Promise<void> {
    const { job } = run;
    try {
      const target = job.target === '' ? null : job.target;
      await Promise.race([this.#handler.run(job.payloads, target, job.attempt > 0), hung]);
      this.#leave(run);
      await this.#tell(job);
    } catch (error) {
      await this.#claims.failed(job, error as Error).catch(this.#listeners.onError);
      this.#leave(run);
      this.#turn();
    }
    this.#listeners.onSettled();
  }

  #leave(run: Run): void {
    this.#runs.delete(run);
    this.#givenBack++;
    if (this.#isSomeLeft) this.#mayWait = true;
  }

  /** Resolves when the database was told that the claim is done, or could not be. */
  #tell(claim: Claim): Promise<void> {
    return new Promise((settle) => {
      this.#ended.push({ claim, settle });
      this.#turn();
    });
  }
}
