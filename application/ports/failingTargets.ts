// Targets of deliveries (`targetOf`) whose last attempt failed, shared by all workers (rules W3, W6). Operational data: if it is lost, it
// is collected again. A healthy target has no row, and costs each worker at most one read per second.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { EndpointFailures } from '../../domain/presentation/endpoint.ts';
import type { Sql } from './sql.ts';
import type { Timer } from './timers.ts';

/** After how many failures first attempts are held back, and how often one is made as a probe. */
export interface ProbeRule {
  readonly failuresInARow: number;
  readonly everySeconds: number;
}

/** An attempt and the timer that starts it. `dueAt`: now, in account time. `since`: when its round of attempts began. */
export type TimedAttempt = Timer & { readonly group: string; readonly since: Timestamp };

export interface FailingTargets {
  /** Returns how many times the target failed in a row; 0 if its last attempt succeeded or there was none. */
  failuresOf(target: string): Promise<number>;
  /** Returns the failures of those of `targets` that keep failing. */
  failing(targets: readonly string[]): Promise<ReadonlyMap<string, EndpointFailures>>;
  /** Counts a failure at `attempt.dueAt`. Returns the new number of failures in a row. */
  failed(attempt: TimedAttempt, error: string): Promise<number>;
  /**
   * Holds a first attempt back until its turn as a probe, the oldest delivery first. Returns when that is. Returns null if the attempt
   * should be made now, because the target no longer keeps failing or it is the attempt's turn.
   */
  hold(attempt: TimedAttempt): Promise<Timestamp | null>;
  /** Records that the target accepted a delivery at `at` (account time). All held-back attempts become due then, page by page. */
  recovered(target: string, at: Timestamp): Promise<void>;
  /** Forgets the failures of these targets in `tx`. Call it before locking timers: `hold` also locks the target first. */
  forget(targets: readonly string[], tx: Sql): Promise<void>;
  /** Removes targets whose last failure is too old for any pending delivery. */
  forgetOld(): Promise<void>;
}
