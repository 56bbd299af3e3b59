// Defines process managers: pure reactions to events. Jobs do the actual work (architecture §7).
import type { JobRequest } from './jobs.ts';
import type { LoggedEvent } from './loggedEvent.ts';
import type { Sql } from './sql.ts';
import type { Timer, TimerGroup, TimerKey } from './timers.ts';

export type Reaction =
  /** Enqueues a job for the tenant of the event. */
  | { readonly kind: 'job'; readonly job: Omit<JobRequest, 'tenant'> }
  /** Sets a timer. `first`: it was never set before, so that clearing it in the same batch needs no write. */
  | { readonly kind: 'timer'; readonly timer: Timer; readonly first?: true }
  | { readonly kind: 'clearTimer'; readonly timer: TimerKey }
  /** Makes all timers of the group due now, because they no longer need to wait. */
  | { readonly kind: 'fireNow'; readonly timers: TimerGroup }
  /** Runs the effect that a capability declares under this name, in the transaction that moves the process's checkpoint. */
  | { readonly kind: 'effect'; readonly effect: string; readonly about: unknown };

/** Carries out the requests for an effect in one batch, in order. Runs before timers are written, so it may lock rows. */
export type EffectHandler = (asked: readonly unknown[], tx: Sql) => Promise<void>;

/** A process's state from earlier events. It moves with the process's own checkpoint, so that it matches the event being handled. */
export interface ProcessMemory {
  /** Replaces the state in memory, which may be stale, by the stored one. */
  load(db: Sql): Promise<void>;
  /** Applies an event, in the transaction that moves the checkpoint. Returns null if it changes nothing, as most events do. */
  take(logged: LoggedEvent, tx: Sql): Promise<void> | null;
}

export interface ProcessManager {
  readonly name: string;
  readonly categories: readonly string[];
  /** The name of the memory passed to `react`; null: it needs none. */
  readonly remembers: string | null;
  /** Whether its jobs move money. Operators must name such a process twice to have it skip an event. */
  readonly movesMoney: boolean;
  /**
   * Where the process begins in a deployment that ran before it had this process. The first start of a deployment is the beginning for all.
   * A process that remembers begins at the beginning, because its memory is made of all earlier events.
   */
  readonly from: 'beginning' | 'now';
  /** Whether each effect belongs to the account of its event, so that several processes can react, each for some accounts. */
  readonly isByAccount: boolean;
  /** Returns the reactions to an event. Pure. If it throws, this process parks the event's stream; other streams and processes continue. */
  react(event: LoggedEvent, memory: unknown): readonly Reaction[];
}

/** Returns the name of the process as a consumer of the log, used for its checkpoint and in operators' commands. */
export const consumerName = ({ name }: Pick<ProcessManager, 'name'>): string => `process/${name}`;
