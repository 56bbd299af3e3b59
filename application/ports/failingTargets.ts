// Targets of deliveries (`targetOf`) that failed since they last took something, as all workers know them (rules W3, W6).
// Operational: what is lost is learnt again. A target that is well has no row, and costs one read a second and worker at most.
import type { Timestamp } from '../../domain/kernel/time.ts';
import type { Timer } from './timers.ts';

/** Names the jobs and timers of deliveries. */
export const DELIVERY_QUEUE = 'deliver';

/** When first attempts are held back, and how often one of them may go. */
export interface ProbeRule {
  readonly failuresInARow: number;
  readonly everySeconds: number;
}

/** A first attempt, as its timer would be; `dueAt`: now, in account time; `since`: when its delivery was made. */
export type FirstAttempt = Timer & { readonly group: string; readonly since: Timestamp };

export interface FailingTargets {
  /** Failures in a row; 0: it is well. */
  failuresOf(target: string): Promise<number>;
  /** One more, at `attempt.dueAt`. Returns how many there are in a row now. */
  failed(attempt: FirstAttempt, error: string): Promise<number>;
  /**
   * Holds a first attempt back until its turn as a probe, the oldest delivery first, and says when that is. null: it goes now, because
   * the target does not keep failing any more, or because its turn is now.
   */
  hold(attempt: FirstAttempt): Promise<Timestamp | null>;
  /** It took something at `at`: all that waits for it is due then. */
  recovered(target: string, at: Timestamp): Promise<void>;
  /** Removes those that have not failed for so long that nothing is tried there any more. */
  forgetOld(): Promise<void>;
}
