// Claims jobs of one queue and lane whenever it is woken, and runs them. Its places are shared between tenants and limited per target.
import { setMaxListeners } from 'node:events';
import { type JobHandler, type JobPayload, type Places, Stopping } from '../../application/ports/jobs.ts';

/** The attempt identifies the claim: the next claim of the same job has another attempt number. */
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
/** Limits of a claim: in total, per tenant and per target. */
export interface Room {
  readonly free: number;
  /** Limit for a tenant that holds no place. */
  readonly perTenant: number;
  readonly perTarget: number;
  /** Tenants and targets that hold places: the number held, and the number that they may still claim. `latest`: target of the latest. */
  readonly tenants: readonly {
    readonly tenant: string;
    readonly held: number;
    readonly room: number;
    readonly latest: string;
  }[];
  readonly targets: readonly { readonly tenant: string; readonly target: string; readonly room: number }[];
}
export interface Claims {
  /** Whether this process may take work now. */
  mayClaim(): boolean;
  /** Ends the claims in `done` and claims other jobs. `isWhole`: only jobs beyond the limits are left. */
  claim(
    room: Room,
    done: readonly Claim[],
  ): Promise<{ readonly jobs: readonly ClaimedJob[]; readonly isWhole: boolean }>;
  done(claims: readonly Claim[]): Promise<void>;
  failed(job: ClaimedJob, error: Error): Promise<void>;
  /** Releases claims that have not begun, as if they had never been claimed. */
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
  readonly ending: AbortController;
}
/** A claim whose work is done, until the database has recorded that. */
interface Ended {
  readonly claim: Claim;
  readonly settle: () => void;
}

/**
 * Returns how many more places a tenant that holds `held` may take while `free` are left: as long as it holds at most half of the places
 * that remain free then. This way no set of busy tenants can starve a new one. A tenant without places may always take one.
 */
export const roomOf = (held: number, free: number): number =>
  Math.max(Math.floor((free - 2 * held) / 3), held === 0 ? 1 : 0);

const roomOfTenant = ({ tenants, perTenant }: Room, tenant: string): number =>
  tenants.find((known) => known.tenant === tenant)?.room ?? perTenant;
const roomOfTarget = ({ targets, perTarget }: Room, tenant: string, target: string): number =>
  targets.find((known) => known.tenant === tenant && known.target === target)?.room ?? perTarget;

/** Whether a claim took all due jobs: no limit (total, tenant or target) was reached, so none can have held a job back. */
export const isAll = (jobs: readonly ClaimedJob[], limits: Room): boolean => {
  const isFull = ({ room }: { readonly room: number }): boolean => room === 0;
  if (jobs.length >= limits.free || limits.tenants.some(isFull) || limits.targets.some(isFull)) return false;
  return [...Map.groupBy(jobs, ({ tenant }) => tenant)].every(([tenant, own]) => {
    const byTarget = [...Map.groupBy(own, ({ target }) => target)];
    return (
      own.length < roomOfTenant(limits, tenant) &&
      byTarget.every(([target, { length }]) => length < roomOfTarget(limits, tenant, target))
    );
  });
};

/**
 * A taken job that is written later than this is not begun. Its claim counts from the statement that writes it, before the commit, and the
 * first touch may come two heartbeats after the begin. Until then, another worker could mistake the claim for a dead worker's.
 */
const WRITING_MS_MAX = 3_000;

export class JobLoop {
  readonly #claims: Claims;
  readonly #handler: JobHandler;
  readonly #limits: Places;
  readonly #listeners: Listeners;
  readonly #writingMsMax: number;
  readonly #runs = new Set<Run>();
  /** Jobs that have a place and are being written, and since when. */
  readonly #taken = new Map<ClaimedJob, number>();
  readonly #ending = new Set<Promise<void>>();
  /** Done claims that are not recorded in the database yet. */
  #ended: Ended[] = [];
  /** Whether jobs may be waiting that could be claimed now. */
  #mayWait = true;
  /** Whether the last claim may have left jobs behind because of a limit. If not, the end of a job need not cause another claim. */
  #isSomeLeft = false;
  /** Number of places freed so far. */
  #freed = 0;
  #isTurning = false;
  #isClaiming = false;
  #turns: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    claims: Claims,
    handler: JobHandler,
    limits: Places,
    listeners: Listeners,
    writingMsMax = WRITING_MS_MAX,
  ) {
    this.#writingMsMax = writingMsMax;
    this.#claims = claims;
    this.#handler = handler;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  /** The running claims. */
  get claims(): readonly Claim[] {
    return [...this.#runs].map(({ job }) => job);
  }

  wake(): void {
    this.#mayWait = true;
    this.#turn();
  }

  /**
   * Takes a place for a job that is about to be written, so that it needs no claim. Returns false if a claim must decide, because others
   * may come first or a limit is reached. Half of the places are never taken, so that other processes get jobs, too. End it by `begin`
   * or `giveBack`.
   */
  take(job: ClaimedJob): boolean {
    if (this.#stopped || !this.#claims.mayClaim() || this.#free <= this.#limits.places / 2) return false;
    if (this.#isClaiming || this.#mayWait || this.#isSomeLeft) return false;
    const room = this.#room();
    if (roomOfTenant(room, job.tenant) < 1 || roomOfTarget(room, job.tenant, job.target) < 1) return false;
    this.#taken.set(job, performance.now());
    return true;
  }

  /** Runs a taken job that was written as claimed. If that took too long, the job is claimed again instead. */
  begin(job: ClaimedJob): void {
    const writingMs = performance.now() - (this.#taken.get(job) ?? Number.NEGATIVE_INFINITY);
    this.#taken.delete(job);
    if (!this.#stopped && writingMs <= this.#writingMsMax) this.#begin(job);
    else {
      this.#onFreed();
      this.#untilEnded(this.#release(job));
    }
  }

  /** Frees the place of a taken job that was not written. */
  giveBack(job: ClaimedJob): void {
    this.#taken.delete(job);
    this.#onFreed();
    this.#turn();
  }

  /** Fails jobs that have run longer than this and frees their places; late results are discarded. */
  giveUp(longerThanMs: number): void {
    const beforeMs = performance.now() - longerThanMs;
    for (const { sinceMs, giveUp } of this.#runs)
      if (sinceMs < beforeMs) giveUp(new Error(`timed out after ${longerThanMs / 1_000} s`));
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    for (const { ending } of this.#runs) ending.abort(new Stopping());
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    const allEnded = (async () => {
      await this.#turns; // from now on, newly claimed jobs are released
      await Promise.all(this.#ending);
    })();
    await Promise.race([allEnded, grace]);
    clearTimeout(timer);
    await this.#turns;
  }

  #turn(): void {
    if (!this.#isTurning) this.#turns = this.#takeTurns();
  }

  /** Runs one statement at a time. The next statement records the jobs that ended meanwhile, and claims others if some may be waiting. */
  async #takeTurns(): Promise<void> {
    this.#isTurning = true;
    const mayClaim = (): boolean => this.#mayWait && !this.#stopped && this.#free > 0;
    while (this.#ended.length > 0 || mayClaim()) {
      const ended = this.#ended.splice(0);
      const done = ended.map(({ claim }) => claim);
      try {
        if (mayClaim()) await this.#claim(done);
        else await this.#claims.done(done);
      } catch (error) {
        this.#isSomeLeft = true;
        this.#listeners.onError(error as Error); // claims that were not recorded expire and run again; jobs are idempotent
      }
      for (const { settle } of ended) settle();
    }
    this.#isTurning = false;
  }

  async #claim(done: readonly Claim[]): Promise<void> {
    const room = this.#room();
    const freedBefore = this.#freed;
    this.#mayWait = false;
    this.#isClaiming = true;
    const claimed = await this.#claims.claim(room, done).finally(() => {
      this.#isClaiming = false;
    });
    if (this.#stopped) {
      if (claimed.jobs.length > 0) await this.#claims.release(claimed.jobs);
      return;
    }
    for (const job of claimed.jobs) this.#begin(job);
    this.#isSomeLeft = !isAll(claimed.jobs, room);
    // A place that was freed in the meantime did not count for this claim.
    if (!claimed.isWhole || (this.#isSomeLeft && freedBefore < this.#freed)) this.#mayWait = true;
  }

  get #free(): number {
    return this.#limits.places - this.#runs.size - this.#taken.size;
  }

  #room(): Room {
    const free = this.#free;
    const tenants = new Map<string, { held: number; latest: string; readonly targets: Map<string, number> }>();
    for (const { tenant, target } of [...[...this.#runs].map(({ job }) => job), ...this.#taken.keys()]) {
      const holder = tenants.get(tenant) ?? { held: 0, latest: '', targets: new Map() };
      holder.held++;
      holder.latest = target;
      holder.targets.set(target, (holder.targets.get(target) ?? 0) + 1);
      tenants.set(tenant, holder);
    }
    const { perTarget } = this.#limits;
    return {
      free,
      perTenant: roomOf(0, free),
      perTarget,
      tenants: [...tenants].map(([tenant, { held, latest }]) => ({ tenant, held, latest, room: roomOf(held, free) })),
      targets: [...tenants].flatMap(([tenant, { targets }]) =>
        [...targets].map(([target, count]) => ({ tenant, target, room: Math.max(0, perTarget - count) })),
      ),
    };
  }

  #begin(job: ClaimedJob): void {
    const { promise: hung, reject } = Promise.withResolvers<never>();
    const ending = new AbortController();
    setMaxListeners(0, ending.signal); // each payload of a job may listen
    const giveUp = (error: Error): void => {
      reject(error);
      ending.abort(error);
    };
    const run: Run = { job, sinceMs: performance.now(), giveUp, ending };
    this.#runs.add(run);
    this.#untilEnded(this.#run(run, hung));
  }

  async #release(job: ClaimedJob): Promise<void> {
    await this.#claims.release([job]).catch(this.#listeners.onError);
    this.wake();
  }

  /** `stop` waits for the work. */
  #untilEnded(work: Promise<void>): void {
    const ended = work.finally(() => {
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
  }

  async #run(run: Run, hung: Promise<never>): Promise<void> {
    const { job, ending } = run;
    try {
      const target = job.target === '' ? null : job.target;
      await Promise.race([this.#handler.run(job.payloads, target, job.attempt > 0, ending.signal), hung]);
      this.#end(run);
      await this.#recordDone(job);
    } catch (error) {
      await this.#claims.failed(job, error as Error).catch(this.#listeners.onError);
      this.#end(run);
      this.#turn();
    }
    this.#listeners.onSettled();
  }

  #end(run: Run): void {
    this.#runs.delete(run);
    this.#onFreed();
  }

  #onFreed(): void {
    this.#freed++;
    if (this.#isSomeLeft) this.#mayWait = true;
  }

  /** Resolves when the database has recorded that the claim is done, or the attempt to record it failed. */
  #recordDone(claim: Claim): Promise<void> {
    return new Promise((settle) => {
      this.#ended.push({ claim, settle });
      this.#turn();
    });
  }
}
