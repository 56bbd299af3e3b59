// Targets of deliveries (`targetOf`) whose last attempt failed, shared by all workers (rules W3, W6). Operational data: what is lost is
// learnt again. A target that does not fail has no row, and costs each worker one read a second at most.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EndpointFailures } from '../../domain/presentation/endpoint.ts';
import type { Sql } from './sql.ts';
import type { Timer } from './timers.ts';

/** When first attempts are held back, and how often one of them may go. */
export interface ProbeRule {
  readonly failuresInARow: number;
  readonly everySeconds: number;
}

/** A first attempt in the form of its timer. `dueAt`: now, in account time; `since`: when its delivery was scheduled. */
export type FirstAttempt = Timer & { readonly group: string; readonly since: Timestamp };

export interface FailingTargets {
  /** Returns how often the target failed in a row; 0 when its last attempt succeeded, or there was none. */
  failuresOf(target: string): Promise<number>;
  /** Returns those of `targets` that keep failing, with what is known of it. */
  failing(targets: readonly string[]): Promise<ReadonlyMap<string, EndpointFailures>>;
  /** Counts a failure at `attempt.dueAt`. Returns how many there are in a row now. */
  failed(attempt: FirstAttempt, error: string): Promise<number>;
  /**
   * Holds a first attempt back until its turn as a probe, the oldest delivery first. Returns when that is; null when the attempt is to be
   * made now, because the target does not keep failing any more, or because its turn is now.
   */
  hold(attempt: FirstAttempt): Promise<Timestamp | null>;
  /** Records that the target took a delivery at `at` (account time): all attempts that wait for it become due then. */
  recovered(target: string, at: Timestamp): Promise<void>;
  /** Forgets the failures of these targets in `tx`, before it locks any timer: whoever holds an attempt back takes the target first. */
  forget(targets: readonly string[], tx: Sql): Promise<void>;
  /** Removes targets whose last failure is so long ago that no delivery to them can be pending. */
  forgetOld(): Promise<void>;
}
